export { findPublicKey, listPublicKeys, loadSigningKey } from './publish.ts'
