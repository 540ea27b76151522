// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Signatures by the keys of nodes' certificates. The certificates are sent along and trusted as those of a
/// connection are: of the job's authority, valid now, for TLS, and naming the origin's rank. A chain that was found
/// good is known again by its bytes until its first certificate ends, and as long as the same authorities are
/// trusted.
final class CertificateSignatures implements OriginSignatures {

    private static final int KNOWN = 1024;

    /// The key of a node, and the authorities that it trusts.
    ///
    /// @param key of the first certificate
    /// @param shown as [ShownChain#encode]
    /// @param trust in others
    record Material(SigningKey key, byte[] shown, MemberTrust trust) {}

    private record Known(byte[] shown, MemberTrust trust, PublicKey key, Instant until) {

        boolean is(ShownChain chain, MemberTrust trusted, Instant now) {
            return trust == trusted && now.isBefore(until) && Arrays.equals(shown, chain.encoded());
        }
    }

    private final Supplier<Material> material;
    private final InstantSource clock;
    // by rank; under the lock
    private final Map<Integer, Known> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Known> eldest) {
            return size() > KNOWN;
        }
    };

    CertificateSignatures(Supplier<Material> material, InstantSource clock) {
        this.material = material;
        this.clock = clock;
    }

    @Override
    public byte[] sign(byte[] statement) throws IOException {
        Material with = material.get();
        try {
            byte[] signature = with.key.sign(statement);
            byte[] all = Arrays.copyOf(with.shown, with.shown.length + signature.length);
            System.arraycopy(signature, 0, all, with.shown.length, signature.length);
            return all;
        } catch (GeneralSecurityException wrong) {
            throw new IOException("cannot sign: key=" + with.key + " reason=" + wrong.getMessage(), wrong);
        }
    }

    @Override
    public void check(int origin, byte[] statement, byte[] signature) throws IOException {
        MemberTrust trust = material.get().trust;
        ShownChain shown = ShownChain.read(signature);
        Instant now = clock.instant();
        Known before = known(origin);
        PublicKey key;
        if (before != null && before.is(shown, trust, now)) {
            key = before.key;
        } else {
            key = trusted(origin, shown, trust);
            know(origin, new Known(shown.encoded(), trust, key, endOf(shown.chain())));
        }
        if (!isSigned(key, statement, shown.signature())) {
            throw new IOException("signature is of something else: origin=" + origin);
        }
    }

    private synchronized @Nullable Known known(int origin) {
        return known.get(origin);
    }

    private synchronized void know(int origin, Known found) {
        known.put(origin, found);
    }

    private static PublicKey trusted(int origin, ShownChain shown, MemberTrust trust) throws IOException {
        try {
            trust.calling(origin).recheck(shown.chain(), false);
            return shown.chain()[0].getPublicKey();
        } catch (CertificateException wrong) {
            throw new IOException("origin's " + wrong.getMessage(), wrong);
        }
    }

    private static Instant endOf(X509Certificate... chain) {
        Instant end = Instant.MAX;
        for (X509Certificate each : chain) {
            Instant ends = each.getNotAfter().toInstant();
            end = ends.isBefore(end) ? ends : end;
        }
        return end;
    }

    private static boolean isSigned(PublicKey key, byte[] statement, byte[] signature) {
        try {
            return SigningKey.isSigned(key, statement, signature);
        } catch (GeneralSecurityException malformed) {
            return false;
        }
    }
}
