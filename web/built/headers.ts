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
