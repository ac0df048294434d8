/** Response headers of a page. */
export const pageHeaders = (securityPolicy: string): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  // Revalidated on every visit, because the page names the scripts of the current deployment.
  'cache-control': 'no-cache',
  'content-security-policy': securityPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
})

/** Response headers of scripts and styles. They never expire, because their names change with their content. */
export const assetHeaders = (contentType: string): Record<string, string> => ({
  'content-type': contentType,
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
})

/** Content-Security-Policy of a page that needs nothing from elsewhere. Nobody may frame it. */
export const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')
