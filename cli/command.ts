import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { type Api, createApi } from './api.ts'
import type { Output } from './output.ts'

/** The command line is wrong. */
export class UsageError extends Error {
  readonly command: string | undefined
  constructor(message: string, command?: string) {
    super(message)
    this.name = 'UsageError'
    this.command = command
  }
}

/** A command as it was called. */
export interface Invocation {
  /** The command's own options; those that were not given are absent. */
  values: Record<string, string | boolean | undefined>
  positionals: string[]
  out: Output
  env: Record<string, string | undefined>
  /** The platform, as the developer. @throws {UsageError} without a key */
  api(): Api
}

export interface Command {
  name: string
  /** Name, arguments and the most important options. */
  usage: string
  summary: string
  /** What it does, its options, examples. */
  help: string
  options: ParseArgsOptionsConfig
  /** How many arguments it takes beside its options. */
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
  { name, options, positionals: wanted }: Command,
  args: readonly string[],
  env: Record<string, string | undefined>,
  out: Output,
): Invocation => {
  const { values, positionals } = parsed(name, args, { ...options, ...COMMON })
  if (positionals.length !== wanted) {
    throw new UsageError(
      positionals.length < wanted ? 'An argument is missing.' : 'There are too many arguments.',
      name,
    )
  }
  return {
    values,
    positionals,
    out,
    env,
    api() {
      const key = values.key ?? env.DEVELOPER_KEY
      if (typeof key !== 'string' || key === '') {
        throw new UsageError('Your developer key is missing: set DEVELOPER_KEY, or give --key.', name)
      }
      const baseUrl = String(values['base-url'] ?? env.PLATFORM_URL ?? 'http://127.0.0.1:3000').replace(/\/+$/, '')
      if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
        throw new UsageError('--base-url is not an http or https address.', name)
      }
      return createApi({ baseUrl, key })
    },
  }
}

const parsed = (name: string, args: readonly string[], options: ParseArgsOptionsConfig) => {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
    return { values: values as Invocation['values'], positionals }
  } catch (error) {
    // Its text may hold a value, but only of an option that does not exist: never the key.
    throw new UsageError((error as Error).message, name)
  }
}

/** An option's text. */
export const textOf = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
