// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.held;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import io.bulla.refcount.held.Held;
import io.bulla.refcount.held.HeldMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/// A JVM of this machine that is asked who holds its memory.
///
/// ```
/// pid --attach--> the JDK's local management agent, started there
///     --JMX over loopback--> the bean, made there if it is new
/// ```
///
/// No code is sent, no agent is loaded: the class of the bean is Bulla's own, which the program has.
final class OtherJvm implements AutoCloseable {

    /// A JVM that is stopped answers nothing; without this a call would wait for ever.
    private static final String RESPONSE_TIMEOUT = "sun.rmi.transport.tcp.responseTimeout";

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration MOMENT = Duration.ofSeconds(10);

    private final long pid;
    private final JMXConnector connector;
    private final HeldMXBean bean;

    private OtherJvm(long pid, JMXConnector connector, HeldMXBean bean) {
        this.pid = pid;
        this.connector = connector;
        this.bean = bean;
    }

    /// @throws IOException in one line: no such process, not a JVM, another user's, without Bulla, stopped
    static OtherJvm of(long pid) throws IOException, InterruptedException {
        return of(pid, PATIENCE);
    }

    /// On a thread of its own, since a JVM that is stopped never ends the first step.
    static OtherJvm of(long pid, Duration patience) throws IOException, InterruptedException {
        check(pid);
        CompletableFuture<OtherJvm> found = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("bulla-held").start(() -> {
            try {
                found.complete(connected(pid));
            } catch (Throwable failure) {
                found.completeExceptionally(failure);
            }
        });
        try {
            return found.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw new IOException("JVM does not answer: pid=" + pid + " waited=" + patience.toMillis() + "ms", late);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException failure ? failure : new IOException(failed.getCause());
        }
    }

    private static OtherJvm connected(long pid) throws IOException {
        System.setProperty(RESPONSE_TIMEOUT, System.getProperty(RESPONSE_TIMEOUT, "30000"));
        JMXConnector connector = connect(pid);
        boolean found = false;
        try {
            OtherJvm jvm = new OtherJvm(pid, connector, bean(pid, connector.getMBeanServerConnection()));
            found = true;
            return jvm;
        } finally {
            if (!found) {
                closeQuietly(connector);
            }
        }
    }

    /// Asks the bean.
    ///
    /// @throws IOException if the JVM has ended, or does not answer
    <T> T ask(Function<HeldMXBean, T> question) throws IOException {
        try {
            return question.apply(bean);
        } catch (UndeclaredThrowableException failure) {
            throw staysAlive(pid)
                    ? new IOException("JVM does not answer: pid=" + pid + " " + why(failure.getCause()), failure)
                    : ended(pid, failure);
        }
    }

    @Override
    public void close() {
        closeQuietly(connector);
    }

    private static void check(long pid) throws IOException {
        ProcessHandle process = ProcessHandle.of(pid).orElseThrow(() -> new IOException("no such process: pid=" + pid));
        if (pid == ProcessHandle.current().pid()) {
            throw new IOException("that is this command itself: pid=" + pid);
        }
        Optional<String> user = process.info().user();
        Optional<String> own = ProcessHandle.current().info().user();
        if (user.isPresent()
                && own.isPresent()
                && !user.equals(own)
                && !own.get().equals("root")) {
            throw new IOException("process of another user: pid=" + pid + " user=" + user.get() + " own=" + own.get());
        }
        if (!mayBeJvm(pid, Path.of("/proc", Long.toString(pid), "maps"))) {
            throw new IOException("not a JVM: pid=" + pid
                    + process.info()
                            .command()
                            .map(command -> " command=" + command)
                            .orElse(""));
        }
    }

    /// To attach sends a signal first, which ends some programs that are no JVM.
    ///
    /// @param maps files that it has mapped; one that was replaced since, as by an update, is `(deleted)`
    static boolean mayBeJvm(long pid, Path maps) throws IOException {
        if (!Files.isReadable(maps)) {
            return true;
        }
        try (Stream<String> lines = Files.lines(maps, StandardCharsets.ISO_8859_1)) {
            return lines.anyMatch(line -> line.endsWith("/libjvm.so") || line.endsWith("/libjvm.so (deleted)"));
        } catch (AccessDeniedException denied) {
            throw cannotLook(pid, "not allowed", denied);
        } catch (IOException failure) {
            throw cannotLook(pid, why(failure), failure);
        } catch (UncheckedIOException failure) {
            throw cannotLook(pid, why(failure.getCause()), failure);
        }
    }

    private static JMXConnector connect(long pid) throws IOException {
        String address;
        try {
            VirtualMachine jvm = VirtualMachine.attach(Long.toString(pid));
            try {
                address = jvm.startLocalManagementAgent();
            } finally {
                jvm.detach();
            }
            return JMXConnectorFactory.connect(new JMXServiceURL(address));
        } catch (AttachNotSupportedException | IOException failure) {
            throw isAlive(pid)
                    ? new IOException("JVM cannot be attached to: pid=" + pid + " " + why(failure), failure)
                    : ended(pid, failure);
        }
    }

    private static HeldMXBean bean(long pid, MBeanServerConnection server) throws IOException {
        try {
            ObjectName name = new ObjectName(Held.NAME);
            try {
                server.createMBean(Held.class.getName(), name);
            } catch (InstanceAlreadyExistsException there) {
                // by the program itself, or by an earlier command
            }
            return JMX.newMXBeanProxy(server, name, HeldMXBean.class);
        } catch (JMException failure) {
            throw new IOException(
                    "no Bulla on the class path of the JVM: pid=" + pid + " class=" + Held.class.getName(), failure);
        } catch (IOException failure) {
            throw staysAlive(pid)
                    ? new IOException("JVM does not answer: pid=" + pid + " " + why(failure), failure)
                    : ended(pid, failure);
        }
    }

    private static IOException cannotLook(long pid, String reason, Exception cause) {
        return isAlive(pid)
                ? new IOException("cannot look at process: pid=" + pid + " reason=" + reason, cause)
                : ended(pid, cause);
    }

    private static IOException ended(long pid, Throwable cause) {
        return new IOException("JVM has ended: pid=" + pid, cause);
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    /// Its connections end a moment before a process does.
    private static boolean staysAlive(long pid) {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        try {
            if (process.isPresent()) {
                process.get().onExit().get(MOMENT.toMillis(), TimeUnit.MILLISECONDS);
            }
            return false;
        } catch (TimeoutException alive) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        } catch (ExecutionException unknown) {
            return isAlive(pid);
        }
    }

    private static String why(Throwable failure) {
        String message = failure.getMessage();
        return message == null
                ? failure.getClass().getSimpleName()
                : message.lines().findFirst().orElse("");
    }

    private static void closeQuietly(JMXConnector connector) {
        try {
            connector.close();
        } catch (IOException gone) {
            // with its JVM
        }
    }
}
