// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.broadcast.BroadcastKey;
import io.bulla.runtime.oob.internal.broadcast.SignedBytes;
import io.bulla.runtime.oob.internal.certificates.Certificates;
import io.bulla.runtime.oob.internal.certificates.Pem;
import io.bulla.runtime.oob.security.OriginSignatures;
import io.bulla.runtime.oob.security.TlsCertificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// What a signature of the origin adds to a broadcast: `signed` once at the origin, `check` once at each receiver,
/// both off the event loop.
///
/// What one should see: `digest`, which is a part of both, grows with the size; what they take beyond it does not,
/// and depends on the kind of key.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class OriginSignatureBenchmark {

    private static final BroadcastKey BROADCAST = new BroadcastKey(0, 77, 1);
    private static final int TAG = 5;

    @Param({"EC", "Ed25519", "RSA"})
    private String key;

    @Param({"1024", "1048576"})
    private int size;

    private final ArenaSource source = ArenaSource.create();
    private TlsCertificates node;
    private OriginSignatures signatures;
    private SealedBuffer bytes;
    private SealedBuffer joined;
    private Path folder;

    @Setup
    public void pack() throws IOException, GeneralSecurityException {
        folder = Files.createTempDirectory("bulla-bench");
        Certificates.Validity day = new Certificates.Validity(
                Instant.now().minusSeconds(60), Instant.now().plus(Duration.ofDays(1)));
        KeyPair authorityKey = Certificates.newKey();
        X509Certificate authority = Certificates.authority("authority", authorityKey, day);
        KeyPair own = key.equals("EC") ? Certificates.newKey() : pair();
        X509Certificate certificate = Certificates.node("trial", 0, own.getPublic(), "authority", authorityKey, day);
        Path ca = Files.writeString(folder.resolve("ca.pem"), Pem.of(List.of(authority)));
        Path chain = Files.writeString(folder.resolve("0.pem"), Pem.of(List.of(certificate)));
        Path secret = Files.createFile(
                folder.resolve("0.key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(secret, Pem.of(own.getPrivate()));
        node = TlsCertificates.ofFiles(ca, chain, secret);
        signatures = node.originSignatures().orElseThrow();
        bytes = BufferBuilder.ofCapacity(source, size).put(new byte[size]).seal();
        joined = sign();
    }

    private KeyPair pair() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(key);
        if (key.equals("RSA")) {
            generator.initialize(2048);
        }
        return generator.generateKeyPair();
    }

    @TearDown
    public void free() throws IOException {
        bytes.close();
        joined.close();
        source.close();
        for (String file : List.of("ca.pem", "0.pem", "0.key")) {
            Files.delete(folder.resolve(file));
        }
        Files.delete(folder);
    }

    @Benchmark
    public byte[] digest() {
        return SignedBytes.statement(BROADCAST, TAG, 0, bytes);
    }

    @Benchmark
    public long signed() throws IOException {
        try (SealedBuffer all = sign()) {
            return all.byteSize();
        }
    }

    private SealedBuffer sign() throws IOException {
        byte[] signature = signatures.sign(SignedBytes.statement(BROADCAST, TAG, 0, bytes));
        return SignedBytes.join(bytes, signature, source);
    }

    @Benchmark
    public void check() throws IOException {
        byte[] signature = SignedBytes.signature(joined);
        try (SealedBuffer body = SignedBytes.bytes(joined, signature.length)) {
            signatures.check(0, SignedBytes.statement(BROADCAST, TAG, 0, body), signature);
        }
    }
}
