// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.util.Locale;

/// Signs with a certificate's key. The key says by which algorithm, so that the one who signs does not choose it:
/// ECDSA with SHA-256, RSA-PSS with SHA-256 and 32 bytes of salt, or the key's only one, such as Ed25519.
record SigningKey(PrivateKey key) {

    private static final int SALT_BYTES = 32;

    byte[] sign(byte[] statement) throws GeneralSecurityException {
        Signature signer = signatureOf(key);
        signer.initSign(key);
        signer.update(statement);
        return signer.sign();
    }

    static boolean isSigned(PublicKey by, byte[] statement, byte[] signature) throws GeneralSecurityException {
        Signature verifier = signatureOf(by);
        verifier.initVerify(by);
        verifier.update(statement);
        return verifier.verify(signature);
    }

    private static Signature signatureOf(Key key) throws GeneralSecurityException {
        return switch (key.getAlgorithm().toUpperCase(Locale.ROOT)) {
            case "EC" -> Signature.getInstance("SHA256withECDSA");
            case "RSA", "RSASSA-PSS" -> {
                Signature pss = Signature.getInstance("RSASSA-PSS");
                pss.setParameter(new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, SALT_BYTES, 1));
                yield pss;
            }
            default -> Signature.getInstance(key.getAlgorithm());
        };
    }

    @Override
    public String toString() {
        return key.getAlgorithm();
    }
}
