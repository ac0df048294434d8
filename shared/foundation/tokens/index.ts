export { type Claims, issueToken, TOKENS, type TokenKind, type Verified, verifyToken } from './tokens.ts'
