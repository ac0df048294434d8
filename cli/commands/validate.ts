import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { type ManifestReport, validateManifest } from '#shared/catalogue/manifests/index.ts'
import { createAddressCheck } from '../../shared/adapters/outgoing-http/check-only.ts'
import type { Finding } from '../../shared/kernel/json-schema/finding.ts'
import { LIMITS } from '../../shared/kernel/limits.ts'
import { SCOPE_NAMES } from '../../shared/kernel/scopes.ts'
import { type Command, type Invocation, UsageError } from '../command.ts'

export const validate: Command = {
  name: 'validate',
  usage: 'validate [<manifest>]',
  summary: 'Validate a manifest without an account or a network',
  help: `Validates a manifest with the platform’s own validator and lists all errors at once: where each one is (a JSON Pointer),
what is wrong, and how to fix it. Works without an account or a network. Exit codes: 0 valid, 1 invalid, 2 unreadable file.

  <manifest>          a file, or - for standard input; default: agent.json
  --local             allow http://127.0.0.1 addresses, as a local platform does
  --json              print {"valid", "errors": [{"path", "message", "fix"}], "warnings"}

Examples:
  aip validate agent.json
  aip validate --json agent.json | jq -r '.errors[].message'
  some-generator | aip validate -`,
  options: { local: { type: 'boolean' } },
  positionals: [0, 1],
  async run({ positionals: [file = 'agent.json'], values, out }) {
    const report = check(await read(file), values.local === true)
    const { valid, errors, warnings } = report
    out.result({ valid, errors, warnings }, textOf(file, report, out))
    return valid ? 0 : 1
  },
}

/** @throws {UsageError} */
const read = async (file: string): Promise<Buffer> => {
  try {
    return file === '-' ? await buffer(process.stdin) : await readFile(file)
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new UsageError(`${file} can’t be read (${code}).`, 'validate')
  }
}

const refused = (message: string, fix: string): ManifestReport => ({
  valid: false,
  errors: [{ path: '', message, fix }],
  warnings: [],
})

const check = (bytes: Buffer, allowLoopbackHttp: boolean): ManifestReport => {
  if (bytes.length > LIMITS.manifestBytes) {
    return refused(
      `The manifest has ${bytes.length} bytes, which is more than the limit of ${LIMITS.manifestBytes}.`,
      'Shorten descriptions and schemas.',
    )
  }
  let input: unknown
  try {
    input = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return refused(`The file isn’t valid JSON: ${(error as Error).message}.`, 'Save it as JSON in UTF-8.')
  }
  const { checkAddress } = createAddressCheck({ allowLoopbackHttp })
  return validateManifest(input, { checkUrl: checkAddress, knownScopes: SCOPE_NAMES })
}

const textOf = (file: string, { valid, errors, warnings }: ManifestReport, { paint }: Invocation['out']): string => {
  const lines = (kind: string, findings: readonly Finding[]) =>
    findings.flatMap(({ path, message, fix }) => [
      `${kind} ${paint('bold', path === '' ? '(whole file)' : path)}: ${message}`,
      `  ${paint('green', 'fix')} ${fix}`,
    ])
  const name = file === '-' ? 'The manifest' : file
  const summary = valid
    ? `${name} is valid${warnings.length > 0 ? `, with ${warnings.length} warning${warnings.length === 1 ? '' : 's'}` : ''}.`
    : `${name} is invalid: ${errors.length} error${errors.length === 1 ? '' : 's'}.`
  return [
    ...lines(paint('red', 'error'), errors),
    ...lines(paint('yellow', 'warning'), warnings),
    paint(valid ? 'green' : 'red', summary),
  ].join('\n')
}
