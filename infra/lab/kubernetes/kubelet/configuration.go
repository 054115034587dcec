package kubelet

import (
	"path/filepath"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kubelet/config/v1beta1"
)

// configuration is what differs from a kubelet's defaults on a machine that is not its own: nothing
// of this machine is changed, limited or watched over, and no pod is evicted for its full disk.
func configuration(options Options) config.KubeletConfiguration {
	no, yes, zero, none := false, true, int32(0), ""
	all := int32(100)
	return config.KubeletConfiguration{
		TypeMeta: meta.TypeMeta{
			APIVersion: config.SchemeGroupVersion.String(), Kind: "KubeletConfiguration",
		},
		Address:                  "127.0.0.1",
		Port:                     int32(options.Port),
		HealthzPort:              &zero,
		TLSCertFile:              options.Certificate,
		TLSPrivateKeyFile:        options.Certificate,
		ContainerRuntimeEndpoint: "unix://" + socket,
		PodLogsDir:               filepath.Join(home, "logs"),
		VolumePluginDir:          filepath.Join(home, "plugins-of-volumes"),
		Authentication: config.KubeletAuthentication{
			X509:      config.KubeletX509Authentication{ClientCAFile: options.Authority},
			Webhook:   config.KubeletWebhookAuthentication{Enabled: &yes},
			Anonymous: config.KubeletAnonymousAuthentication{Enabled: &no},
		},
		Authorization:                 config.KubeletAuthorization{Mode: config.KubeletAuthorizationModeWebhook},
		ResolverConfig:                &none,
		CgroupsPerQOS:                 &no,
		EnforceNodeAllocatable:        []string{"none"},
		FailSwapOn:                    &no,
		FailCgroupV1:                  &no,
		LocalStorageCapacityIsolation: &no,
		MakeIPTablesUtilChains:        &no,
		OOMScoreAdj:                   &zero,
		SerializeImagePulls:           &no,
		RegistryPullQPS:               &zero,
		EventRecordQPS:                &zero,
		ImageGCHighThresholdPercent:   &all,
		SyncFrequency:                 meta.Duration{Duration: 10 * time.Second},
		EvictionHard: map[string]string{
			"memory.available":   "0%",
			"nodefs.available":   "0%",
			"nodefs.inodesFree":  "0%",
			"imagefs.available":  "0%",
			"imagefs.inodesFree": "0%",
		},
	}
}
