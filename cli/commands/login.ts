import { hostname, userInfo } from 'node:os'
import { text as textFrom } from 'node:stream/consumers'
import { ApiError, createApi } from '../api.ts'
import { openBrowser } from '../browser.ts'
import { type Command, type Invocation, textOf, UsageError } from '../command.ts'
import { type Profile, profilesFile, readProfiles, writeProfiles } from '../profiles.ts'
import { type Granted, signInByBrowser } from '../sign-in/by-browser.ts'

/** Time that a person has to sign in and approve. */
const LIMIT_MS = 5 * 60_000

export const login: Command = {
  name: 'login',
  usage: 'login',
  summary: 'Sign in, in the browser or with a key',
  help: `Opens the developer portal, where you allow this machine to act for your account. It gets a key of its own, which ends after
90 days and can be deleted in the portal. The key is kept in a file that only you can read (0600): ~/.config/aip/profiles.json,
or in the folder AIP_CONFIG. Each platform can have its own profile.

  --with-key          read a developer key from standard input instead, for machines without a browser
  --no-browser        only print the address
  --profile <name>    name of the profile; default: default
  --base-url <url>    the platform’s address
  --json              print {"profile", "email", "base_url", "expires_at"}

Examples:
  aip login
  aip login --base-url https://platform.example --profile work
  echo "$DEVELOPER_KEY" | aip login --with-key`,
  options: { 'with-key': { type: 'boolean' }, 'no-browser': { type: 'boolean' } },
  positionals: 0,
  createsProfile: true,
  async run(invocation) {
    const { values, out, env } = invocation
    const baseUrl = invocation.baseUrl()
    const granted = values['with-key'] === true ? await byKey(baseUrl) : await byBrowser(invocation, baseUrl)
    if (!granted) {
      out.error({ code: 'denied', message: 'The sign-in was refused in the portal.', fix: 'Run: aip login' })
      return 1
    }
    saveProfile(invocation, baseUrl, granted)
    out.note(`The key is in ${profilesFile(env)}.`)
    return 0
  },
}

/** Saves the account as the current profile, and says so. */
const saveProfile = ({ env, out, profileName }: Invocation, baseUrl: string, granted: Granted): void => {
  const name = profileName ?? 'default'
  const { api_key: key, email, expires_at } = granted
  const profile: Profile = { base_url: baseUrl, key, email, expires_at }
  const known = readProfiles(env)
  writeProfiles(env, { ...known, current: name, profiles: { ...known.profiles, [name]: profile } })
  const shown = { profile: name, email, base_url: baseUrl, expires_at }
  out.result(shown, `${out.paint('green', 'signed in')} as ${email} at ${baseUrl} (profile ${name})`)
}

const byKey = async (baseUrl: string): Promise<Granted> => {
  const key = (await textFrom(process.stdin)).trim()
  if (key === '') throw new UsageError('Standard input has no key.', 'login')
  const { email } = await createApi({ baseUrl, key }).insist('GET', '/api/v1/dev/me')
  return { api_key: key, email, expires_at: null }
}

const byBrowser = async ({ values, env, out }: Invocation, baseUrl: string): Promise<Granted | undefined> => {
  const signIn = await signInByBrowser(baseUrl, machineName(), LIMIT_MS)
  const opened = values['no-browser'] !== true && (await openBrowser(signIn.address, env))
  // Printed even with --json: a person has to open it.
  out.prompt(
    `${opened ? 'If no browser opened, open' : 'Open'} this address on this machine and check the code ${signIn.code}:\n\n  ${signIn.address}\n`,
  )
  out.progress('Waiting for the browser')
  try {
    return await signIn.granted
  } catch (error) {
    throw new ApiError(0, {
      code: 'timeout',
      message: (error as Error).message,
      fix: 'Run aip login again. On a machine without a browser, use --with-key.',
    })
  } finally {
    signIn.end()
  }
}

/** Names the key in the portal's list. */
const machineName = (): string => {
  let user = ''
  try {
    user = `${userInfo().username}@`
  } catch {
    // A container's user may have no entry.
  }
  return `${user}${hostname()}`.slice(0, 60)
}

export const logout: Command = {
  name: 'logout',
  usage: 'logout',
  summary: 'Forget the key of a profile',
  help: `Removes a profile with its key from this machine. The key itself works until it ends: delete it in the portal, under
Account.

  --profile <name>    the profile; default: the current one
  --json              print {"profile"}

Examples:
  aip logout
  aip logout --profile work`,
  options: {},
  positionals: 0,
  async run({ env, out, profileName }) {
    const known = readProfiles(env)
    const name = profileName ?? known.current
    if (name === null || known.profiles[name] === undefined) {
      throw new UsageError(`There is no profile ${name ?? ''} to sign out of.`.replace('  ', ' '), 'logout')
    }
    const { [name]: _, ...profiles } = known.profiles
    const current = known.current === name ? (Object.keys(profiles)[0] ?? null) : known.current
    writeProfiles(env, { ...known, current, profiles })
    out.result({ profile: name }, `${out.paint('green', 'signed out')} of profile ${name}`)
    return 0
  },
}

export const register: Command = {
  name: 'register',
  usage: 'register --email <address> --name <name>',
  summary: 'Create a developer account and sign in',
  help: `Creates a developer account with its sandbox, and keeps its key as login does. Platforms may ask you to confirm the address
before you submit an app.

  --email <address>   your e-mail address
  --name <name>       your name
  --company <name>    your company
  --profile <name>    name of the profile; default: default
  --base-url <url>    the platform’s address
  --json              print {"profile", "email", "base_url", "expires_at"}

Examples:
  aip register --email ada@example.com --name Ada`,
  options: { email: { type: 'string' }, name: { type: 'string' }, company: { type: 'string' } },
  positionals: 0,
  createsProfile: true,
  async run(invocation) {
    const { values, out } = invocation
    const [email, name, company] = [textOf(values.email), textOf(values.name), textOf(values.company)]
    if (email === undefined || name === undefined) throw new UsageError('--email and --name are required.', 'register')
    const baseUrl = invocation.baseUrl()
    out.progress('Registering')
    const api = createApi({ baseUrl, key: undefined })
    const body = { email, name, ...(company && { company }) }
    const { api_key, developer } = await api.insist('POST', '/api/v1/dev/register', { body })
    saveProfile(invocation, baseUrl, { api_key, email: developer.email, expires_at: null })
    return 0
  },
}

export const whoami: Command = {
  name: 'whoami',
  usage: 'whoami',
  summary: 'Show the account and the platform in use',
  help: `Shows whose key the tool uses, where, and all profiles of this machine.

  --json              print {"profiles", "current", "base_url", "developer"}

Examples:
  aip whoami
  aip whoami --profile work`,
  options: {},
  positionals: 0,
  async run(invocation) {
    const { env, out } = invocation
    const { current, profiles } = readProfiles(env)
    const developer = await invocation.api().insist('GET', '/api/v1/dev/me')
    const base_url = invocation.baseUrl()
    const names = Object.keys(profiles)
    const lines = [
      `${developer.email} (${developer.id}) at ${base_url}`,
      `  vendor    ${developer.vendor ?? 'none yet'}`,
      `  sandbox   ${developer.sandbox_workspace.id}`,
      ...names.map((name) => `  profile   ${name}${name === current ? ' (current)' : ''}: ${profiles[name]?.base_url}`),
    ]
    out.result({ developer, base_url, current, profiles: names }, lines.join('\n'))
    return 0
  },
}
