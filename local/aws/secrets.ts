import { randomInt, randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { SecretModel } from '../template/model.ts'
import { AwsError } from './error.ts'

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'

const pick = (from: string) => from.charAt(randomInt(from.length))

/** Generates a random password from the options of `GenerateSecretString`, like GetRandomPassword. */
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
  // Each kind occurs at least once, at its own random position.
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

/** Returns the first value of a secret: given, or generated as the template declares. */
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

const CURRENT = 'AWSCURRENT'

/**
 * Stores the values of each secret by version, and the labels that name versions: `AWSCURRENT`, `AWSPREVIOUS`, and
 * custom ones.
 */
const createVersions = (database: DatabaseSync) => {
  const put = database.prepare('INSERT INTO secret_versions VALUES (?, ?, ?, ?)')
  const get = database.prepare('SELECT * FROM secret_versions WHERE arn = ? AND version = ?')
  const labelled = database.prepare('SELECT version FROM secret_labels WHERE arn = ? AND label = ?')
  const labels = database.prepare('SELECT label FROM secret_labels WHERE arn = ? AND version = ? ORDER BY label')
  const attach = database.prepare(
    'INSERT INTO secret_labels VALUES (?, ?, ?) ON CONFLICT (arn, label) DO UPDATE SET version = excluded.version',
  )
  const detach = database.prepare('DELETE FROM secret_labels WHERE arn = ? AND label = ?')
  const versionOf = (arn: string, label: string) => labelled.get(arn, label)?.version as string | undefined
  return {
    put: (arn: string, version: string, value: string, at: number) => void put.run(arn, version, value, at),
    get: (arn: string, version: string) => get.get(arn, version),
    versionOf,
    labels: (arn: string, version: string) => labels.all(arn, version).map(({ label }) => String(label)),
    /** Moves a label to a version. The version that was current before becomes the previous one. */
    label: (arn: string, label: string, version: string) => {
      const before = versionOf(arn, label)
      attach.run(arn, label, version)
      if (label === CURRENT && before !== undefined && before !== version) attach.run(arn, 'AWSPREVIOUS', before)
    },
    unlabel: (arn: string, label: string) => void detach.run(arn, label),
  }
}

/** Creates the secrets. Each gets its value once and keeps it, so tokens issued before a restart work after it. */
export const createSecrets = (models: SecretModel[], database: DatabaseSync, now = Date.now): Secrets => {
  const insert = database.prepare('INSERT INTO secrets VALUES (?, ?, ?, ?, ?) ON CONFLICT (arn) DO NOTHING')
  const read = database.prepare('SELECT * FROM secrets WHERE arn = ? OR name = ?')
  const versions = createVersions(database)
  for (const model of models) {
    insert.run(model.arn, model.name, generateSecret(model), randomUUID(), now())
    const { value, version, created_at } = read.get(model.arn, model.arn) ?? {}
    if (versions.versionOf(model.arn, CURRENT) !== undefined) continue
    versions.put(model.arn, String(version), String(value), Number(created_at))
    versions.label(model.arn, CURRENT, String(version))
  }

  const find = (id: unknown) => {
    const row = typeof id === 'string' ? read.get(id, id) : undefined
    if (!row) throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.")
    return { arn: String(row.arn), name: String(row.name) }
  }

  const operations: Record<string, (secret: { arn: string; name: string }, input: Record<string, unknown>) => object> =
    {
      GetSecretValue: ({ arn, name }, { VersionStage = CURRENT, VersionId }) => {
        const version = VersionId ?? versions.versionOf(arn, String(VersionStage))
        const row = version === undefined ? undefined : versions.get(arn, String(version))
        if (!row) {
          const message = `Secrets Manager can't find the specified secret value for staging label: ${VersionStage}`
          throw new AwsError('ResourceNotFoundException', message)
        }
        return {
          ARN: arn,
          Name: name,
          VersionId: row.version,
          SecretString: row.value,
          VersionStages: versions.labels(arn, String(row.version)),
          CreatedDate: Number(row.created_at) / 1_000,
        }
      },
      PutSecretValue: (
        { arn, name },
        { SecretString, ClientRequestToken = randomUUID(), VersionStages = [CURRENT] },
      ) => {
        const version = String(ClientRequestToken)
        const known = versions.get(arn, version)
        if (known && known.value !== SecretString) {
          throw new AwsError(
            'ResourceExistsException',
            'A version with this token and a different value already exists.',
          )
        }
        if (!known) versions.put(arn, version, String(SecretString), now())
        for (const label of VersionStages as string[]) versions.label(arn, label, version)
        return { ARN: arn, Name: name, VersionId: version, VersionStages: versions.labels(arn, version) }
      },
      UpdateSecretVersionStage: ({ arn, name }, { VersionStage, RemoveFromVersionId, MoveToVersionId }) => {
        const label = String(VersionStage)
        const at = versions.versionOf(arn, label)
        if (at !== RemoveFromVersionId && !(at === MoveToVersionId && RemoveFromVersionId === undefined)) {
          const message = `The staging label ${label} is currently attached to version ${at}, so you must explicitly reference that version in RemoveFromVersionId.`
          throw new AwsError('InvalidParameterException', message)
        }
        if (MoveToVersionId === undefined) versions.unlabel(arn, label)
        else if (!versions.get(arn, String(MoveToVersionId))) {
          throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret version.")
        } else versions.label(arn, label, String(MoveToVersionId))
        return { ARN: arn, Name: name }
      },
    }

  return {
    handle: (operation, input) => {
      const secret = find(input.SecretId)
      const known = Object.hasOwn(operations, operation) ? operations[operation] : undefined
      if (!known)
        throw new AwsError('InvalidRequestException', `The local Secrets Manager does not support ${operation}.`)
      return known(secret, input)
    },
  }
}
