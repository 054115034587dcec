package container

import (
	"os"
	"slices"
	"strings"
)

// ofTheKernel have nothing of this machine's files, or are made anew for each container.
var ofTheKernel = []string{"/proc", "/sys", "/dev"}

// mountPoints returns the directories of this machine on which another file system than the root's
// is mounted, outermost first, but for those at or below `hidden` ones.
func mountPoints(hidden []string) ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, point := range parse(string(text), slices.Concat(ofTheKernel, hidden)) {
		if about, err := os.Stat(point); err == nil && about.IsDir() {
			found = append(found, point)
		}
	}
	return found, nil
}

// parse returns the fifth field of each line (proc_pid_mountinfo(5)), once, without the root.
func parse(text string, hidden []string) []string {
	var points []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 5 || strings.ContainsAny(fields[4], `\:,`) {
			continue // escaped, or no option of overlay could name it
		}
		point := fields[4]
		if point != "/" && !below(point, hidden) && !slices.Contains(points, point) {
			points = append(points, point)
		}
	}
	slices.Sort(points)
	return points
}

func below(point string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return point == folder || strings.HasPrefix(point, folder+"/")
	})
}
