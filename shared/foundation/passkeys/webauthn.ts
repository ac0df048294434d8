/**
 * The WebAuthn library, in one module that is loaded on first use. As two modules, the bundler would share a part between them that runs
 * before the polyfill it needs.
 */
export {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
export {
  cose,
  decodeAttestationObject,
  decodeCredentialPublicKey,
  isoCBOR,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers'
