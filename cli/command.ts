import { readFile } from 'node:fs/promises'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { type Api, createApi } from './api.ts'
import type { Output } from './output.ts'
import { chooseProfile, type Profile, readProfiles } from './profiles.ts'
import { UsageError } from './usage-error.ts'

export { UsageError } from './usage-error.ts'

/** One invocation of a command. */
export interface Invocation {
  /** Options of the command. Options that weren't given are absent. */
  values: Record<string, string | boolean | undefined>
  positionals: string[]
  out: Output
  env: Record<string, string | undefined>
  /** Name of the profile that `--profile` or `AIP_PROFILE` chose. */
  profileName: string | undefined
  /** Returns the platform's address without a trailing slash. @throws {UsageError} */
  baseUrl(): string
  /** Creates a client for the platform with the developer's key. @throws {UsageError} without a key */
  api(): Api
}

export interface Command {
  /** One word, or two such as `runs show`. */
  name: string
  /** Name, arguments and main options. */
  usage: string
  summary: string
  /** Description, options and examples. */
  help: string
  options: ParseArgsOptionsConfig
  /** Number of arguments besides the options, or the least and the most. */
  positionals: number | readonly [least: number, most: number]
  /** True if `--profile` may name a profile that doesn't exist yet. */
  createsProfile?: true
  /** Values that a shell suggests for the first argument. */
  suggests?: readonly string[]
  /** @returns the exit code */
  run(invocation: Invocation): Promise<number>
}

/** Options of every command. */
export const COMMON = {
  json: { type: 'boolean' },
  'base-url': { type: 'string' },
  key: { type: 'string' },
  profile: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/**
 * @param onPlatform called with the platform's address by commands that use it
 * @throws {UsageError}
 */
export const readInvocation = (
  { name, options, positionals: expected, createsProfile }: Command,
  args: readonly string[],
  env: Record<string, string | undefined>,
  out: Output,
  onPlatform: (baseUrl: string) => void,
): Invocation => {
  const { values, positionals } = parsed(name, args, { ...options, ...COMMON })
  const [least, most] = typeof expected === 'number' ? [expected, expected] : expected
  if (positionals.length < least || positionals.length > most) {
    throw new UsageError(positionals.length < least ? 'An argument is missing.' : 'Too many arguments.', name)
  }
  const profileName = textOf(values.profile) ?? textOf(env.AIP_PROFILE)
  const given = textOf(values['base-url']) ?? textOf(env.PLATFORM_URL)
  const profile = (): Profile | undefined => {
    if (profileName !== undefined && createsProfile !== true) requireProfile(env, profileName, name)
    return chooseProfile(env, { name: profileName, baseUrl: given && trimmed(given) })
  }
  const baseUrl = (): string => {
    const url = trimmed(given ?? profile()?.base_url ?? 'http://127.0.0.1:3000')
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new UsageError('--base-url must be an http or https address.', name)
    }
    onPlatform(url)
    return url
  }
  return {
    values,
    positionals,
    out,
    env,
    profileName,
    baseUrl,
    api() {
      const key = textOf(values.key) ?? textOf(env.DEVELOPER_KEY) ?? profile()?.key
      if (key === undefined) {
        throw new UsageError(`You aren’t signed in at ${baseUrl()}. Run aip login, or set DEVELOPER_KEY.`, name)
      }
      return createApi({ baseUrl: baseUrl(), key })
    },
  }
}

/** @throws {UsageError} for a profile that doesn't exist */
const requireProfile = (env: Invocation['env'], name: string, command: string): void => {
  const known = Object.keys(readProfiles(env).profiles)
  if (known.includes(name)) return
  const list = known.length === 0 ? 'There is none; run aip login.' : `There are: ${known.join(', ')}.`
  throw new UsageError(`There is no profile ${JSON.stringify(name)}. ${list}`, command)
}

const trimmed = (url: string): string => url.replace(/\/+$/, '')

const parsed = (name: string, args: readonly string[], options: ParseArgsOptionsConfig) => {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
    return { values: values as Invocation['values'], positionals }
  } catch (error) {
    // The message can contain a value only of an unknown option, so never the key.
    throw new UsageError((error as Error).message, name)
  }
}

/** Returns an option's text, or undefined if it is empty. */
export const textOf = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Reads an option's JSON object, from a file if it begins with `@`. @throws {UsageError} */
export const dataOf = async (
  argument: string | undefined,
  option: string,
  command: string,
): Promise<object | undefined> => {
  if (argument === undefined) return undefined
  try {
    const text = argument.startsWith('@') ? await readFile(argument.slice(1), 'utf8') : argument
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    throw new UsageError(`${option} can’t be read: ${(error as Error).message}.`, command)
  }
  throw new UsageError(`${option} must be a JSON object.`, command)
}
