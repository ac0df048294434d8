import type { Secrets } from '../aws/secrets.ts'
import type { SecretModel } from '../template/model.ts'
import { arnOf } from '../template/physical.ts'

const VARIABLE = 'OTEL_EXPORTER_OTLP_HEADERS'

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.trim())
  } catch {
    return undefined
  }
}

/**
 * Parses headers as OpenTelemetry's SDKs read them: `name=value` pairs separated by commas, percent-encoded (OpenTelemetry,
 * "Protocol Exporter").
 * @throws Error that names no value, because it may be a key
 */
export const parseTracesHeaders = (text: string): Record<string, string> => {
  const entries = text.split(',').filter((entry) => entry.trim() !== '')
  return Object.fromEntries(
    entries.map((entry, i) => {
      const at = entry.indexOf('=')
      const [name, value] = [entry.slice(0, Math.max(at, 0)), entry.slice(at + 1)].map(decode)
      // Functions accept the same of a secret.
      if (name && value !== undefined && /^[\w-]{1,256}$/.test(name) && /^[\x20-\x7e]{0,4096}$/.test(value))
        return [name, value]
      throw new Error(
        `${VARIABLE}: entry ${i + 1} of ${entries.length} is not a header. Give name=value, with a comma between headers. Write a comma or % in a value percent-encoded: x-api-key=a%2Cb.`,
      )
    }),
  )
}

type Shell = Record<string, string | undefined>

/** Reads the headers for the receiver of traces from the shell. @returns undefined without headers or without a receiver */
export const readTracesHeaders = (shell: Shell): Record<string, string> | undefined =>
  shell.TRACES_ENDPOINT && shell[VARIABLE]?.trim() ? parseTracesHeaders(shell[VARIABLE]) : undefined

const NAME = 'traces-headers'

/** The secret of `tracesSecret`, which the operator of a deployed stage creates outside the template. */
export const TRACES_SECRET: SecretModel = {
  name: NAME,
  arn: arnOf('AWS::SecretsManager::Secret', NAME),
  generate: undefined,
  value: '{}',
}

/** Stores the headers in the secret. @returns the variable by which functions find it */
export const saveTracesHeaders = (secrets: Secrets, shell: Shell): Record<string, string> => {
  const headers = readTracesHeaders(shell)
  if (!headers) return {}
  secrets.handle('PutSecretValue', { SecretId: TRACES_SECRET.arn, SecretString: JSON.stringify(headers) })
  return { TRACES_SECRET_ARN: TRACES_SECRET.arn }
}
