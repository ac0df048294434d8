/** Error codes that JSON-RPC 2.0 defines. */
export const JSON_RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
} as const
