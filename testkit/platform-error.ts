/**
 * Returns the platform's error object of a response. A JSON-RPC error carries it as its `data`; an error of A2A has its
 * parts in an ErrorInfo, which is in a list in version 1.0.
 */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export const platformErrorOf = ({ body }: { body: any }) => {
  const data = body?.jsonrpc === '2.0' ? body.error?.data : body?.error
  // biome-ignore lint/suspicious/noExplicitAny: details have every shape
  const isInfo = (one: any) => one?.['@type'] === 'type.googleapis.com/google.rpc.ErrorInfo'
  const details = [data, body?.data, data?.details].flatMap((one) =>
    isInfo(one) ? [one] : Array.isArray(one) ? one : [],
  )
  const info = details.find(isInfo)
  if (!info) return data
  const message = (body.error ?? body).message
  // biome-ignore lint/suspicious/noExplicitAny: details have every shape
  const violations = details.flatMap((one: any) => one.fieldViolations ?? []) as {
    field: string
    description: string
  }[]
  const fields = Object.fromEntries(violations.map(({ field, description }) => [field, [description]]))
  const { fix, docs_url, request_id, ...rest } = info.metadata
  // The reason may be A2A's own. The documentation's anchor is always the platform's code.
  return {
    code: docs_url.split('#')[1],
    message,
    fix,
    docs_url,
    request_id,
    details: { ...rest, ...(violations.length > 0 && { fields }) },
  }
}
