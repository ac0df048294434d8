import { isLoopback, proxyFor, SilentServer } from './http.ts'

/** An error in plain words, with a way to fix it. */
interface Explanation {
  message: string
  fix: string
}

const CHECK = 'Check the address (--base-url or PLATFORM_URL) and your network.'

/** Explains why there was no response. What to do depends on where the server is. */
export const explainFailure = (baseUrl: string, error: unknown): Explanation => {
  const url = new URL(baseUrl)
  const proxy = proxyFor(url, process.env)
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const where = proxy ? `${url.origin}, asked through the proxy ${proxy.host}` : url.origin
  const local = isLoopback(url)
  if (error instanceof SilentServer) {
    const fix = local ? 'Look at what runs there, and restart it.' : `Try again later. ${CHECK}`
    return { message: `The server at ${where} doesn’t answer. ${error.message}`, fix }
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return { message: `The name of the server at ${where} can’t be found (${code}).`, fix: CHECK }
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) {
    const fix =
      'Check the address. If your network has a certificate authority of its own, name its file in NODE_EXTRA_CA_CERTS.'
    return { message: `The certificate of the server at ${where} can’t be verified (${code}).`, fix }
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('HPE_')) {
    const other = `${url.protocol === 'https:' ? 'http' : 'https'}://${url.host}`
    return {
      message: `The server at ${where} doesn’t speak ${url.protocol.slice(0, -1)} (${code}).`,
      fix: `Try --base-url ${other}.`,
    }
  }
  if (code === 'ECONNREFUSED' && !proxy) {
    const fix = local
      ? 'Start the platform with npm start, or set its address with --base-url or PLATFORM_URL.'
      : `The server is down, or elsewhere. ${CHECK}`
    return { message: `Nothing listens at ${where} (${code}).`, fix }
  }
  const reason = code === '' ? message.replace(/\.$/, '') : code
  const fix = local ? 'Look at what runs there, or set another address with --base-url or PLATFORM_URL.' : CHECK
  return { message: `The connection to ${where} failed${reason && ` (${reason})`}.`, fix }
}

/** Explains a response that isn't the platform's. */
export const explainResponse = (baseUrl: string, { status, headers }: Response): Explanation => {
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null && URL.canParse(location, baseUrl)) {
    const { origin } = new URL(location, baseUrl)
    return {
      message: `${baseUrl} redirects to ${location} (HTTP ${status}). The tool sends your key to no other address.`,
      fix:
        origin === new URL(baseUrl).origin
          ? 'Check the address.'
          : `If the platform is there, use --base-url ${origin}.`,
    }
  }
  const isPage = headers.get('content-type')?.includes('html') === true
  return {
    message: `${baseUrl} answers with ${isPage ? 'a web page' : 'something else than the platform’s API'} (HTTP ${status}).`,
    fix: isLoopback(new URL(baseUrl))
      ? 'Another program uses this port. Set the platform’s address with --base-url or PLATFORM_URL.'
      : 'Set --base-url to the platform’s address, without a path. A proxy or a sign-in page of your network answers like this, too.',
  }
}
