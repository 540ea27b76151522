// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.internal.wire.Hello;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Settings from a launcher for the process that it started, in environment variables.
///
/// ```
/// PMIX_NAMESPACE, PMIX_RANK       who this process is
/// PMIX_SERVER_URI41, 51, 61, 4    where the server listens: one name for each wire module that it speaks
/// PMIX_BFROP_BUFFER_TYPE          whether items carry their types
/// PMIX_SECURITY_MODE, PMIX_GDS_MODULE, PMIX_VERSION
/// ```
///
/// @param proc this process: the name space of its job, and its rank
/// @param server where the server listens
/// @param module name of the wire module, as the server is told; all that are taken have the same bytes
/// @param format what those bytes are
/// @param version of the server, to be shown and nothing else
public record PmixEnvironment(Proc proc, PmixServer server, String module, WireFormat format, String version) {

    /// The modules that are spoken, in the order of preference: v41 is in every server since 4.1.
    private static final List<String> MODULES = List.of("41", "51", "61", "4");

    private static final String URI = "PMIX_SERVER_URI";

    /// Checks the fields.
    ///
    /// @throws NullPointerException if one is missing
    public PmixEnvironment {
        Objects.requireNonNull(proc, "proc");
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(module, "module");
        Objects.requireNonNull(format, "format");
        Objects.requireNonNull(version, "version");
    }

    /// The environment of this process.
    ///
    /// @return as [#of(Map)] of the process's environment
    /// @throws PmixException as there
    public static PmixEnvironment ofProcess() throws PmixException {
        return of(System.getenv());
    }

    /// Reads the variables.
    ///
    /// @param variables names and values
    /// @return what they say
    /// @throws PmixException with [PmixStatus#UNREACHABLE], if there is no launcher; with
    ///     [PmixStatus#NOT_SUPPORTED], if its server speaks nothing that this client does; with
    ///     [PmixStatus#BAD_PARAMETER], if a variable is not what it should be. The message names the variable
    public static PmixEnvironment of(Map<String, String> variables) throws PmixException {
        String namespace = needed(variables, "PMIX_NAMESPACE");
        Proc proc = proc(namespace, needed(variables, "PMIX_RANK"));
        String module = module(variables);
        checkOffers(variables, "PMIX_SECURITY_MODE", Hello.SECURITY);
        checkOffers(variables, "PMIX_GDS_MODULE", Hello.STORE);
        return new PmixEnvironment(
                proc,
                PmixServer.parse(URI + module, Objects.requireNonNull(variables.get(URI + module), URI)),
                "v" + module,
                WireFormat.PMIX_4.described(described(variables)),
                variables.getOrDefault("PMIX_VERSION", "unknown"));
    }

    private static String needed(Map<String, String> variables, String name) throws PmixException {
        String value = variables.get(name);
        if (value == null || value.isEmpty()) {
            throw new PmixException(
                    PmixStatus.UNREACHABLE,
                    "not started by a PMIx launcher such as mpirun or srun --mpi=pmix: " + name + " is not set");
        }
        return value;
    }

    private static Proc proc(String namespace, String rank) throws PmixException {
        try {
            int number = Integer.parseInt(rank);
            if (number >= 0) {
                return new Proc(namespace, number);
            }
        } catch (IllegalArgumentException wrong) {
            // said below
        }
        throw new PmixException(
                PmixStatus.BAD_PARAMETER, "not a process: PMIX_NAMESPACE=" + namespace + " PMIX_RANK=" + rank);
    }

    private static String module(Map<String, String> variables) throws PmixException {
        for (String module : MODULES) {
            if (variables.containsKey(URI + module)) {
                return module;
            }
        }
        List<String> offered = variables.keySet().stream()
                .filter(name -> name.startsWith(URI))
                .sorted()
                .toList();
        if (offered.isEmpty()) {
            throw new PmixException(
                    PmixStatus.UNREACHABLE,
                    "the launcher says no address of its PMIx server: " + URI + "41 is not set");
        }
        throw new PmixException(
                PmixStatus.NOT_SUPPORTED,
                "the launcher's PMIx server is too old, or too new: needed=" + URI + "41 offered=" + offered
                        + " version=" + variables.getOrDefault("PMIX_VERSION", "unknown"));
    }

    /// Both are lists; where the variable is missing the server has a default that includes what is needed.
    private static void checkOffers(Map<String, String> variables, String name, String needed) throws PmixException {
        String offered = variables.get(name);
        if (offered != null && !Arrays.asList(offered.split(",")).contains(needed)) {
            throw new PmixException(
                    PmixStatus.NOT_SUPPORTED,
                    "the launcher's PMIx server offers nothing that this client has: " + name + "=" + offered
                            + " needed=" + needed);
        }
    }

    private static boolean described(Map<String, String> variables) throws PmixException {
        String type = variables.getOrDefault("PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC");
        return switch (type) {
            case "PMIX_BFROP_BUFFER_NON_DESC" -> false;
            case "PMIX_BFROP_BUFFER_FULLY_DESC" -> true;
            default ->
                throw new PmixException(
                        PmixStatus.NOT_SUPPORTED, "unknown kind of buffer: PMIX_BFROP_BUFFER_TYPE=" + type);
        };
    }
}
