import { readFile } from 'node:fs/promises'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { type Api, createApi } from './api.ts'
import type { Output } from './output.ts'

/** Error for an invalid command line. */
export class UsageError extends Error {
  readonly command: string | undefined
  constructor(message: string, command?: string) {
    super(message)
    this.name = 'UsageError'
    this.command = command
  }
}

/** One invocation of a command. */
export interface Invocation {
  /** Options of the command. Options that weren't given are absent. */
  values: Record<string, string | boolean | undefined>
  positionals: string[]
  out: Output
  env: Record<string, string | undefined>
  /** Returns the platform's address without a trailing slash. @throws {UsageError} */
  baseUrl(): string
  /** Creates a client for the platform with the developer's key. @throws {UsageError} without a key */
  api(): Api
}

export interface Command {
  name: string
  /** Name, arguments and main options. */
  usage: string
  summary: string
  /** Description, options and examples. */
  help: string
  options: ParseArgsOptionsConfig
  /** Number of arguments besides the options. */
  positionals: number
  /** @returns the exit code */
  run(invocation: Invocation): Promise<number>
}

const COMMON = {
  json: { type: 'boolean' },
  'base-url': { type: 'string' },
  key: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/** @throws {UsageError} */
export const readInvocation = (
  { name, options, positionals: expected }: Command,
  args: readonly string[],
  env: Record<string, string | undefined>,
  out: Output,
): Invocation => {
  const { values, positionals } = parsed(name, args, { ...options, ...COMMON })
  if (positionals.length !== expected) {
    throw new UsageError(positionals.length < expected ? 'An argument is missing.' : 'Too many arguments.', name)
  }
  const baseUrl = (): string => {
    const url = String(values['base-url'] ?? env.PLATFORM_URL ?? 'http://127.0.0.1:3000').replace(/\/+$/, '')
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new UsageError('--base-url must be an http or https address.', name)
    }
    return url
  }
  return {
    values,
    positionals,
    out,
    env,
    baseUrl,
    api() {
      const key = values.key ?? env.DEVELOPER_KEY
      if (typeof key !== 'string' || key === '') {
        throw new UsageError('Your developer key is missing. Set DEVELOPER_KEY or --key.', name)
      }
      return createApi({ baseUrl: baseUrl(), key })
    },
  }
}

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
