import { styleText } from 'node:util'

/** Credentials of the local run only (set in the stage `local`). They don't work for anything deployed. */
const ADMIN = { key: 'local-admin-key', email: 'admin@example.com', password: 'local-admin-password' }

/**
 * Returns the text printed once everything runs: where to look, how to sign in, what to do next.
 *
 * @param options.seconds since the start of the process
 */
export const banner = (options: {
  /** Address on which the platform listens. */
  address: string
  /** Address that it gives to clients. */
  baseUrl: string
  /** Address of the Telegram stand-in, at the platform's bot. */
  messenger: string
  /** Address of the page that shows sent e-mail. */
  mailbox: string
  dataDir: string
  seconds: number
  /** Whether pages are still being built. */
  building: boolean
  colour: boolean
}): string => {
  const { address, baseUrl } = options
  const bold = (text: string) => (options.colour ? styleText('bold', text, { validateStream: false }) : text)
  const building = options.building
    ? '\nThe pages and the documentation are still being built. Requests for them wait until then.'
    : ''
  const elsewhere =
    address === baseUrl
      ? ''
      : `
It listens at ${address}. Your tunnel or proxy has to lead there. Anybody who knows the public address can use this
platform as anyone: see docs/guides/tunnel.md.`
  return `
${bold(`The platform runs at ${baseUrl}`)} (ready in ${options.seconds.toFixed(1)} s)${elsewhere}${building}

  documentation   ${baseUrl}/docs
  console         ${baseUrl}/app
  developers      ${baseUrl}/developers
  staff           ${baseUrl}/staff (${ADMIN.email} / ${ADMIN.password})
  OpenAPI         ${baseUrl}/openapi.json
  MCP             ${baseUrl}/mcp (assistants sign in; agents use their access token)
  messenger       ${options.messenger} (stands in for Telegram)
  mailbox         ${options.mailbox} (e-mail to developers and people)
  admin key       ${ADMIN.key}
  data            ${options.dataDir} (npm start -- --fresh starts without data)

${bold('Next steps')}

  npm run demo    in another terminal: the whole journey from developer to signed webhook, step by step;
                  npm run demo -- --mcp shows an MCP client that waits for a person while the platform restarts

  curl -X POST ${baseUrl}/api/v1/dev/register \\
    -H 'content-type: application/json' \\
    -d '{"email": "you@example.com", "name": "You"}'

Ctrl-C stops everything.
`
}
