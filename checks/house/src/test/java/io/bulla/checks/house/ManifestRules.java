// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import io.bulla.cli.Bulla;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/// What the fields of the manifest have to agree on, and what a cluster of strict policies demands. Each rule that is
/// broken is a line.
final class ManifestRules {

    private final List<String> findings = new ArrayList<>();
    private final Service service;
    private final PersistentVolumeClaim claim;
    private final PodDisruptionBudget budget;
    private final StatefulSet set;
    private final PodSpec pod;
    private final Container node;

    private ManifestRules(Manifest manifest) {
        service = manifest.the(Service.class);
        claim = manifest.the(PersistentVolumeClaim.class);
        budget = manifest.the(PodDisruptionBudget.class);
        set = manifest.the(StatefulSet.class);
        pod = set.getSpec().getTemplate().getSpec();
        node = pod.getContainers().getFirst();
    }

    static List<String> broken(Manifest manifest) {
        ManifestRules rules = new ManifestRules(manifest);
        rules.names();
        rules.ports();
        rules.times();
        rules.volumes();
        rules.files();
        rules.lockedDown();
        rules.commandLine();
        return rules.findings;
    }

    private void same(String what, Object wanted, Object found) {
        if (!Objects.equals(wanted, found)) {
            findings.add(what + ": wanted=" + wanted + " found=" + found);
        }
    }

    private void names() {
        Map<String, String> labels = set.getSpec().getTemplate().getMetadata().getLabels();
        same("serviceName", service.getMetadata().getName(), set.getSpec().getServiceName());
        same("the service's selector", labels, service.getSpec().getSelector());
        same("the set's selector", labels, set.getSpec().getSelector().getMatchLabels());
        same("the budget's selector", labels, budget.getSpec().getSelector().getMatchLabels());
        same("clusterIP", "None", service.getSpec().getClusterIP());
        same("publishNotReadyAddresses", true, service.getSpec().getPublishNotReadyAddresses());
        same("podManagementPolicy", "Parallel", set.getSpec().getPodManagementPolicy());
        same("updateStrategy", "OnDelete", set.getSpec().getUpdateStrategy().getType());
        same("replicas", Integer.parseInt(after("--nodes")) + 1, set.getSpec().getReplicas());
        same("accessModes", List.of("ReadWriteMany"), claim.getSpec().getAccessModes());
        same("images", 1L, containers().map(Container::getImage).distinct().count());
    }

    private void ports() {
        ServicePort port = service.getSpec().getPorts().getFirst();
        ContainerPort listening = node.getPorts().getFirst();
        same("targetPort", listening.getName(), port.getTargetPort().getStrVal());
        same("the service's port", listening.getContainerPort(), port.getPort());
        same(
                "--peers",
                "dns:" + set.getMetadata().getName() + "-{rank}."
                        + service.getMetadata().getName() + ":" + listening.getContainerPort(),
                after("--peers"));
    }

    private void times() {
        long patience = pod.getTerminationGracePeriodSeconds();
        if (seconds("--grace") >= patience) {
            findings.add("--grace is not less than terminationGracePeriodSeconds: " + seconds("--grace") + " of "
                    + patience);
        }
        // the JDK's resolver keeps an address for 30 seconds, and a name server of the cluster for 30 more
        if (seconds("--peer-timeout") <= 60) {
            findings.add("--peer-timeout is not longer than names are kept: " + seconds("--peer-timeout"));
        }
    }

    private void volumes() {
        Set<String> volumes = pod.getVolumes().stream().map(Volume::getName).collect(Collectors.toSet());
        Set<String> mounted = containers()
                .flatMap(each -> each.getVolumeMounts().stream())
                .map(VolumeMount::getName)
                .collect(Collectors.toSet());
        same("mounted volumes", volumes, mounted);
        pod.getVolumes().stream()
                .filter(each -> each.getPersistentVolumeClaim() != null)
                .forEach(each -> same(
                        "claimName",
                        claim.getMetadata().getName(),
                        each.getPersistentVolumeClaim().getClaimName()));
        pod.getVolumes().stream()
                .filter(each -> each.getSecret() != null)
                .forEach(each -> same("defaultMode", 0440, each.getSecret().getDefaultMode()));
    }

    private void files() {
        inMount("--secret", node, after("--secret"), false);
        inMount("--checkpoint", node, after("--checkpoint"), true);
        inMount("--ready", node, after("--ready"), true);
        inMount("a folder of the JVM", node, "/tmp", true);
        Container copy = pod.getInitContainers().getFirst();
        inMount("the secret's copy", copy, copy.getCommand().getLast(), true);
        same("the secret's copy", after("--secret"), copy.getCommand().getLast());
        same("the volume of the copy", mount(node, after("--secret")), mount(copy, after("--secret")));
        same(
                "readinessProbe",
                List.of("test", "-f", after("--ready")),
                node.getReadinessProbe().getExec().getCommand());
    }

    private void inMount(String what, Container in, String path, boolean written) {
        for (VolumeMount each : in.getVolumeMounts()) {
            if ((path + "/").startsWith(each.getMountPath() + "/")) {
                if (written && Boolean.TRUE.equals(each.getReadOnly())) {
                    findings.add(what + " is in a volume that cannot be written: " + path);
                }
                return;
            }
        }
        findings.add(what + " is in no volume: " + path);
    }

    private static String mount(Container in, String path) {
        return in.getVolumeMounts().stream()
                .filter(each -> path.startsWith(each.getMountPath() + "/"))
                .map(VolumeMount::getName)
                .findFirst()
                .orElse(null);
    }

    private void lockedDown() {
        same("runAsNonRoot", true, pod.getSecurityContext().getRunAsNonRoot());
        same(
                "fsGroup",
                pod.getSecurityContext().getRunAsGroup(),
                pod.getSecurityContext().getFsGroup());
        same("fsGroupChangePolicy", "OnRootMismatch", pod.getSecurityContext().getFsGroupChangePolicy());
        if (pod.getSecurityContext().getRunAsUser() <= 0) {
            findings.add("runAsUser is root");
        }
        same(
                "seccompProfile",
                "RuntimeDefault",
                pod.getSecurityContext().getSeccompProfile().getType());
        containers().forEach(each -> {
            SecurityContext locked = each.getSecurityContext();
            same(each.getName() + " allowPrivilegeEscalation", false, locked.getAllowPrivilegeEscalation());
            same(each.getName() + " readOnlyRootFilesystem", true, locked.getReadOnlyRootFilesystem());
            same(
                    each.getName() + " capabilities",
                    List.of("ALL"),
                    locked.getCapabilities().getDrop());
            if (!each.getResources().getLimits().containsKey("memory")) {
                findings.add(each.getName() + " has no limit of memory");
            }
        });
    }

    private void commandLine() {
        List<String> command = node.getCommand();
        same("the command", List.of("bulla", "node"), command.subList(0, 2));
        try {
            new CommandLine(new Bulla())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .parseArgs(command.subList(1, command.size()).toArray(String[]::new));
        } catch (ParameterException wrong) {
            findings.add("the command line: " + wrong.getMessage());
        }
    }

    private Stream<Container> containers() {
        return Stream.concat(pod.getInitContainers().stream(), pod.getContainers().stream());
    }

    private String after(String option) {
        int at = node.getCommand().indexOf(option);
        if (at < 0 || at + 1 == node.getCommand().size()) {
            throw new IllegalArgumentException("no such option in the command: " + option);
        }
        return node.getCommand().get(at + 1);
    }

    private long seconds(String option) {
        String time = after(option);
        if (!time.matches("\\d+s")) {
            throw new IllegalArgumentException("not in seconds: " + option + " " + time);
        }
        return Long.parseLong(time.substring(0, time.length() - 1));
    }
}
