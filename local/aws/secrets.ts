import { randomInt, randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { SecretModel } from '../template/model.ts'
import { AwsError } from './error.ts'

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'

const pick = (from: string) => from.charAt(randomInt(from.length))

/**
 * A random password as GetRandomPassword makes it from the options of `GenerateSecretString`.
 */
const randomPassword = (options: Record<string, unknown>): string => {
  const excluded = new Set(String(options.ExcludeCharacters ?? ''))
  const kinds = [
    options.ExcludeLowercase ? '' : LOWER,
    options.ExcludeUppercase ? '' : UPPER,
    options.ExcludeNumbers ? '' : DIGITS,
    options.ExcludePunctuation ? '' : PUNCTUATION,
    options.IncludeSpace ? ' ' : '',
  ]
    .map((kind) => [...kind].filter((character) => !excluded.has(character)).join(''))
    .filter((kind) => kind !== '')
  const length = Number(options.PasswordLength ?? 32)
  const characters = Array.from({ length }, () => pick(kinds.join('')))
  // Each kind occurs at least once, at random places of its own.
  if (options.RequireEachIncludedType !== false && kinds.length <= length) {
    const places = Array.from({ length }, (_, i) => i).sort(() => randomInt(3) - 1)
    if (kinds.some((kind) => !characters.some((character) => kind.includes(character)))) {
      kinds.forEach((kind, i) => {
        characters[places[i] ?? i] = pick(kind)
      })
    }
  }
  return characters.join('')
}

/** The first value of a secret: given, or generated as the template says. */
const generateSecret = ({ generate, value }: SecretModel): string => {
  if (value !== undefined) return value
  if (!generate) return ''
  const password = randomPassword(generate)
  if (typeof generate.GenerateStringKey !== 'string') return password
  const template = JSON.parse(String(generate.SecretStringTemplate ?? '{}')) as Record<string, unknown>
  return JSON.stringify({ ...template, [generate.GenerateStringKey]: password })
}

/** Reads and replaces the template's secrets. */
export interface Secrets {
  handle(operation: string, input: Record<string, unknown>): object
}

/** Secrets get their value once and keep it: tokens issued before a restart work after it. */
export const createSecrets = (models: SecretModel[], database: DatabaseSync): Secrets => {
  const insert = database.prepare('INSERT INTO secrets VALUES (?, ?, ?, ?, ?) ON CONFLICT (arn) DO NOTHING')
  const update = database.prepare('UPDATE secrets SET value = ?, version = ? WHERE arn = ?')
  const read = database.prepare('SELECT * FROM secrets WHERE arn = ? OR name = ?')
  for (const model of models) insert.run(model.arn, model.name, generateSecret(model), randomUUID(), Date.now())

  const find = (id: unknown) => {
    const row = typeof id === 'string' ? read.get(id, id) : undefined
    if (!row) throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.")
    return row
  }

  return {
    handle: (operation, input) => {
      const row = find(input.SecretId)
      const { arn, name } = row
      if (operation === 'PutSecretValue') {
        const version = randomUUID()
        update.run(String(input.SecretString), version, String(arn))
        return { ARN: arn, Name: name, VersionId: version, VersionStages: ['AWSCURRENT'] }
      }
      if (operation !== 'GetSecretValue') {
        throw new AwsError('InvalidRequestException', `The local Secrets Manager does not know ${operation}.`)
      }
      if (input.VersionStage !== undefined && input.VersionStage !== 'AWSCURRENT') {
        const message = `Secrets Manager can't find the specified secret value for staging label: ${input.VersionStage}`
        throw new AwsError('ResourceNotFoundException', message)
      }
      return {
        ARN: arn,
        Name: name,
        VersionId: row.version,
        SecretString: row.value,
        VersionStages: ['AWSCURRENT'],
        CreatedDate: Number(row.created_at) / 1_000,
      }
    },
  }
}
