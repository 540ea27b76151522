// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// The manifest of `docs/kubernetes.md`: its fields are those of Kubernetes, and they agree with each other and with
/// the command. Each rule finds its fault here, too.
class ManifestTest {

    private static final Path DOCS = Path.of("../../docs");
    private static final Pattern SHOWN = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

    private static String manifest() throws IOException {
        return Files.readString(DOCS.resolve("kubernetes/bulla.yaml"));
    }

    private static List<String> findings(String text) {
        try {
            return ManifestRules.broken(Manifest.of(text));
        } catch (RuntimeException refused) {
            return List.of(String.valueOf(refused.getMessage()));
        }
    }

    @Test
    void fieldsAreThoseOfKubernetesAndAgree() throws IOException {
        assertEquals(List.of(), findings(manifest()));
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                Arguments.of("clusterIP: None", "clusterIp: None", "Service spec.clusterIp: Unrecognized field"),
                Arguments.of(
                        "storage: 10Gi",
                        "storage: 10Gi\n  size: 1",
                        "PersistentVolumeClaim spec.size: Unrecognized field"),
                Arguments.of(
                        "maxUnavailable: 1",
                        "maxUnavailble: 1",
                        "PodDisruptionBudget spec.maxUnavailble: Unrecognized field"),
                Arguments.of(
                        "serviceName: bulla", "servicename: bulla", "StatefulSet spec.servicename: Unrecognized field"),
                Arguments.of(
                        "runAsUser:",
                        "runAsUsr:",
                        "StatefulSet spec.template.spec.securityContext.runAsUsr: Unrecognized field"),
                Arguments.of(
                        "drop:", "dropp:", "initContainers[0].securityContext.capabilities.dropp: Unrecognized field"),
                Arguments.of(
                        "exec:",
                        "exce:",
                        "StatefulSet spec.template.spec.containers[0].readinessProbe.exce: Unrecognized field"),
                Arguments.of(
                        "medium: Memory",
                        "medum: Memory",
                        "StatefulSet spec.template.spec.volumes[1].emptyDir.medum: Unrecognized"),
                Arguments.of("replicas: 4", "replicas: \"4\"", "StatefulSet spec.replicas: Cannot coerce String value"),
                Arguments.of(
                        "- \"3\"",
                        "- 3",
                        "StatefulSet spec.template.spec.containers[0].command[5]: Cannot coerce Integer value"),
                Arguments.of("replicas: 4", "replicas: 4\n  replicas: 5", "found duplicate key replicas"),
                Arguments.of(
                        "kind: PersistentVolumeClaim",
                        "kind: PersistentVolumesClaim",
                        "unknown kind: v1 PersistentVolumesClaim"),
                Arguments.of("apps/v1", "apps/v2", "unknown kind: apps/v2 StatefulSet"),
                Arguments.of("serviceName: bulla", "serviceName: bula", "serviceName: wanted=bulla found=bula"),
                Arguments.of(
                        "selector:\n    app.kubernetes.io/name: bulla",
                        "selector:\n    app: bulla",
                        "the service's selector: wanted="),
                Arguments.of(
                        "labels:\n        app.kubernetes.io/name: bulla",
                        "labels:\n        app: bulla",
                        "the set's selector: wanted="),
                Arguments.of(
                        "AlwaysAllow\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: bulla",
                        "AlwaysAllow\n  selector:\n    matchLabels:\n      app: bulla",
                        "the budget's selector: wanted="),
                Arguments.of("clusterIP: None", "clusterIP: 10.0.0.1", "clusterIP: wanted=None found=10.0.0.1"),
                Arguments.of(
                        "NotReadyAddresses: true",
                        "NotReadyAddresses: false",
                        "publishNotReadyAddresses: wanted=true found=false"),
                Arguments.of("Parallel", "Paralel", "podManagementPolicy: wanted=Parallel found=Paralel"),
                Arguments.of("OnDelete", "RollingUpdate", "updateStrategy: wanted=OnDelete found=RollingUpdate"),
                Arguments.of("replicas: 4", "replicas: 3", "replicas: wanted=4 found=3"),
                Arguments.of(
                        "ReadWriteMany", "ReadWriteOnce", "accessModes: wanted=[ReadWriteMany] found=[ReadWriteOnce]"),
                Arguments.of("image: bulla:0.1.0-SNAPSHOT", "image: bulla:0.2.0", "images: wanted=1 found=2"),
                Arguments.of("targetPort: nodes", "targetPort: node", "targetPort: wanted=nodes found=node"),
                Arguments.of("port: 7000", "port: 7001", "the service's port: wanted=7000 found=7001"),
                Arguments.of(
                        "bulla-{rank}.bulla:7000",
                        "bulla-{rank}.bula:7000",
                        "--peers: wanted=dns:bulla-{rank}.bulla:7000 found="),
                Arguments.of(
                        "containerPort: 7000",
                        "containerPort: 7001",
                        "--peers: wanted=dns:bulla-{rank}.bulla:7001 found="),
                Arguments.of("- 20s", "- 30s", "--grace is not less than terminationGracePeriodSeconds: 30 of 30"),
                Arguments.of("- 120s", "- 60s", "--peer-timeout is not longer than names are kept: 60"),
                Arguments.of(
                        "- name: tmp\n              mountPath",
                        "- name: temp\n              mountPath",
                        "mounted volumes: wanted="),
                Arguments.of(
                        "claimName: bulla-checkpoints",
                        "claimName: bulla",
                        "claimName: wanted=bulla-checkpoints found=bulla"),
                Arguments.of("defaultMode: 0440", "defaultMode: 440", "defaultMode: wanted=288 found=440"),
                Arguments.of(
                        "mountPath: /checkpoints",
                        "mountPath: /checkpoint",
                        "--checkpoint is in no volume: /checkpoints"),
                Arguments.of(
                        "mountPath: /run/bulla", "mountPath: /run/bull", "--ready is in no volume: /run/bulla/ready"),
                Arguments.of("mountPath: /tmp", "mountPath: /temp", "a folder of the JVM is in no volume: /tmp"),
                Arguments.of(
                        "mountPath: /tmp",
                        "mountPath: /tmp\n              readOnly: true",
                        "a folder of the JVM is in a volume that"),
                Arguments.of(
                        "- /job/secret", "- /job/secrets", "the secret's copy: wanted=/job/secret found=/job/secrets"),
                Arguments.of(
                        "- name: job\n              mountPath",
                        "- name: run\n              mountPath",
                        "the volume of the copy: wanted="),
                Arguments.of("- -f", "- -d\n", "readinessProbe: wanted=[test, -f, /run/bulla/ready] found=[test, -d,"),
                Arguments.of("runAsNonRoot: true", "runAsNonRoot: false", "runAsNonRoot: wanted=true found=false"),
                Arguments.of("runAsUser: 10001", "runAsUser: 0", "runAsUser is root"),
                Arguments.of("fsGroup: 10001", "fsGroup: 10002", "fsGroup: wanted=10001 found=10002"),
                Arguments.of("OnRootMismatch", "Always", "fsGroupChangePolicy: wanted=OnRootMismatch found=Always"),
                Arguments.of("RuntimeDefault", "Unconfined", "seccompProfile: wanted=RuntimeDefault found=Unconfined"),
                Arguments.of(
                        "Escalation: false",
                        "Escalation: true",
                        "node allowPrivilegeEscalation: wanted=false found=true"),
                Arguments.of(
                        "RootFilesystem: true",
                        "RootFilesystem: false",
                        "secret readOnlyRootFilesystem: wanted=true found=false"),
                Arguments.of("- ALL", "- NET_RAW", "node capabilities: wanted=[ALL] found=[NET_RAW]"),
                Arguments.of(
                        "limits:\n              memory: 16Mi",
                        "limits:\n              cpu: 1m",
                        "secret has no limit of memory"),
                Arguments.of("- --checkpoint", "- --checkpoints", "no such option in the command: --checkpoint"),
                Arguments.of(
                        "- bulla\n            - node",
                        "- bulla\n            - noed",
                        "the command: wanted=[bulla, node] found="),
                Arguments.of(
                        "- --nodes", "- --plain\n            - --nodes", "the command line: Unknown option: '--plain'"),
                Arguments.of("- 120s", "- 0120s", "the command line: Invalid value for option '--peer-timeout'"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultIsFound(String of, String fault, String finding) throws IOException {
        String text = manifest();
        int at = text.indexOf(of);
        assertTrue(at >= 0, () -> "not in the manifest: " + of);
        List<String> findings = findings(text.substring(0, at) + fault + text.substring(at + of.length()));
        assertTrue(String.join("\n", findings).contains(finding), () -> "found=" + findings);
    }

    @Test
    void whatThePageShowsIsTheManifests() throws IOException {
        String page = Files.readString(DOCS.resolve("kubernetes.md"));
        List<String> shown =
                SHOWN.matcher(page).results().map(each -> each.group(1)).toList();
        assertTrue(!shown.isEmpty(), "the page shows nothing");
        for (String part : shown) {
            assertTrue(manifest().contains(part), () -> "not in the manifest:\n" + part);
        }
    }
}
