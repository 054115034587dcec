package runtime

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestAPodHasItsOwnAddressOnLoopbackWheneverItIsMadeAnew(t *testing.T) {
	seen := map[string]string{}
	for _, pod := range []string{"a/b/c", "a/b/d", "a/x/c", "z/b/c"} {
		words := strings.Split(pod, "/")
		found := address(words[0], words[1], words[2])
		if found != address(words[0], words[1], words[2]) {
			t.Errorf("%s has another address the second time", pod)
		}
		if other := seen[found]; other != "" {
			t.Errorf("%s has the address of %s", pod, other)
		}
		seen[found] = pod
		if !netip.MustParsePrefix("127.128.0.0/9").Contains(netip.MustParseAddr(found)) {
			t.Errorf("%s is not in the upper half of loopback", found)
		}
	}
}

func TestAnImageIsKnownByItsNameWhateverItsTagOrDigest(t *testing.T) {
	runtime := &Runtime{config: Config{Images: map[string]Image{
		"registry:5000/me/program": {Command: []string{"/program"}},
	}}}
	for name, wanted := range map[string]bool{
		"registry:5000/me/program":               true,
		"registry:5000/me/program:1.0":           true,
		"registry:5000/me/program@sha256:12":     true,
		"registry:5000/me/program:1.0@sha256:12": true,
		"registry:5000/me/another":               false,
		"me/program":                             false,
	} {
		if found := runtime.image(name).Command != nil; found != wanted {
			t.Errorf("%s: known is %v, wanted %v", name, found, wanted)
		}
	}
}

func TestWhatTheKubeletSetsReplacesWhatTheRuntimeSet(t *testing.T) {
	found := environment([]*cri.KeyValue{
		{Key: "PATH", Value: []byte("/mine")}, {Key: "HOMER", Value: []byte("odyssey")},
	}, "/home")
	if wanted := []string{"HOME=/home", "PATH=/mine", "HOMER=odyssey"}; !slices.Equal(found, wanted) {
		t.Errorf("found %v, wanted %v", found, wanted)
	}
}

func TestWhoRunsIsTheContainersChoiceBeforeTheImages(t *testing.T) {
	security := &cri.LinuxContainerSecurityContext{
		RunAsUser:          &cri.Int64Value{Value: 65532},
		RunAsGroup:         &cri.Int64Value{Value: 3000},
		SupplementalGroups: []int64{2000},
		NoNewPrivs:         true,
	}
	found, home, err := identity(security, 1000)
	if err != nil || found.User != 65532 || found.Group != 3000 || !found.NoNewPrivileges ||
		!slices.Equal(found.Groups, []uint32{2000}) || home != "/" {
		t.Errorf("found %+v at home in %s (%v)", found, home, err)
	}
	if found, _, _ := identity(nil, 1000); found.User != 1000 {
		t.Errorf("found user %d, wanted the image's", found.User)
	}
}

func TestALogSaysWhenWhereAndWhetherTheLineIsWhole(t *testing.T) {
	out := &outputs{path: filepath.Join(t.TempDir(), "0.log")}
	if err := out.reopen(); err != nil {
		t.Fatal(err)
	}
	out.tell("stdout", []byte("whole\n"))
	out.tell("stderr", []byte("part"))
	out.finish()
	text, err := os.ReadFile(out.path)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(line, " ")
		found = append(found, rest)
	}
	if wanted := []string{"stdout F whole\n", "stderr P part\n"}; !slices.Equal(found, wanted) {
		t.Errorf("found %q, wanted %q", found, wanted)
	}
}
