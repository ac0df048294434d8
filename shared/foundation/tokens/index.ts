export {
  type Claims,
  type Issuer,
  issuerUrl,
  issueToken,
  TOKENS,
  type TokenKind,
  type Verified,
  verifyToken,
} from './tokens.ts'
