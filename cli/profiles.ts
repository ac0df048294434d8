import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { UsageError } from './usage-error.ts'

/** A developer's account at one platform. */
export interface Profile {
  base_url: string
  key: string
  email: string
  /** When the key ends, if it does. */
  expires_at: string | null
}

interface Profiles {
  version: 1
  /** Name of the profile that is used unless another one is chosen. */
  current: string | null
  profiles: Record<string, Profile>
}

type Env = Record<string, string | undefined>

/** Folder of the tool's files. `AIP_CONFIG` replaces it. */
export const configFolder = (env: Env): string =>
  env.AIP_CONFIG || path.join(env.XDG_CONFIG_HOME || path.join(homedir(), '.config'), 'aip')

/** Path of the file with the profiles. */
export const profilesFile = (env: Env): string => path.join(configFolder(env), 'profiles.json')

/** @throws {UsageError} for a file that isn't JSON */
export const readProfiles = (env: Env): Profiles => {
  const none: Profiles = { version: 1, current: null, profiles: {} }
  let text: string
  try {
    text = readFileSync(profilesFile(env), 'utf8')
  } catch {
    return none
  }
  try {
    return { ...none, ...JSON.parse(text) }
  } catch {
    throw new UsageError(`${profilesFile(env)} isn’t valid JSON. Fix it, or delete it and sign in again.`)
  }
}

/** Saves the profiles in a file that only its owner can read. A reader never sees half of it. */
export const writeProfiles = (env: Env, profiles: Profiles): void => {
  const file = profilesFile(env)
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const next = `${file}.${process.pid}`
  writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  // The mode above is cut by the umask, and ignored if the file exists.
  chmodSync(next, 0o600)
  renameSync(next, file)
}

/**
 * Chooses the profile of an invocation: by name, by the platform's address, or the current one. A profile is never used for an
 * address that isn't its own, so that its key reaches no other server.
 */
export const chooseProfile = (
  env: Env,
  { name, baseUrl }: { name: string | undefined; baseUrl: string | undefined },
): Profile | undefined => {
  const { current, profiles } = readProfiles(env)
  const isHere = (profile: Profile | undefined): profile is Profile =>
    profile !== undefined && (baseUrl === undefined || profile.base_url === baseUrl)
  const chosen = name ?? current
  const usual = chosen === null ? undefined : profiles[chosen]
  if (isHere(usual)) return usual
  return name === undefined ? Object.values(profiles).find(isHere) : undefined
}
