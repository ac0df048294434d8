/** What a page is served with. */
export const pageHeaders = (securityPolicy: string): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  // Kept, and asked for again at each visit: the page names the scripts of its own deployment.
  'cache-control': 'no-cache',
  'content-security-policy': securityPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
})

/** What its scripts and styles are served with: their names change with their content. */
export const assetHeaders = (contentType: string): Record<string, string> => ({
  'content-type': contentType,
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
})
