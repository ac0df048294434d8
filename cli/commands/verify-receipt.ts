import { readFile } from 'node:fs/promises'
import { text as textFrom } from 'node:stream/consumers'
import type { JWK } from 'jose'
import { InvalidReceipt, type Receipt, verifyReceipt } from '#shared/work/receipts/index.ts'
import { canonicalJson } from '../../shared/kernel/canonical-json.ts'
import { sha256 } from '../../shared/kernel/secrets.ts'
import { type Command, type Invocation, textOf, UsageError } from '../command.ts'
import { explainFailure } from '../explain.ts'
import { send } from '../http.ts'

const NAME = 'verify-receipt'

export const verifyReceiptCommand: Command = {
  name: NAME,
  usage: 'verify-receipt <receipt>',
  summary: 'Verify the receipt of a person’s decision',
  help: `Verifies the signed receipt of a decision on a tool call, and prints who decided what. With --jwks it works without a
network. Needs no developer key. Exit codes: 0 valid, 1 invalid, 2 unreadable file.

  <receipt>           a file with the receipt, or - for standard input
  --jwks <file>       the platform’s public keys, saved from /.well-known/jwks.json; default: fetches them from --base-url
  --arguments <file>  the call’s arguments as JSON; checks that the receipt is for exactly these
  --issuer <url>      the platform that must have signed it; default with --jwks: any platform with these keys
  --json              print {"valid", "receipt", "reason"}

Examples:
  curl -s https://platform.example/.well-known/jwks.json > keys.json
  aip verify-receipt receipt.txt --jwks keys.json --issuer https://platform.example
  jq -r .receipt answer.json | aip verify-receipt - --arguments arguments.json`,
  options: { jwks: { type: 'string' }, arguments: { type: 'string' }, issuer: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { positionals, values, out } = invocation
    const receipt = (await read(positionals[0] ?? '')).trim()
    const file = textOf(values.jwks)
    const args = textOf(values.arguments)
    const keys = keysIn(file === undefined ? await download(invocation.baseUrl()) : await read(file), file)
    const issuer = textOf(values.issuer) ?? (file === undefined ? invocation.baseUrl() : undefined)
    try {
      const claims = await verifyReceipt(receipt, (kid) => keys.find((key) => key.kid === kid), issuer)
      if (args !== undefined) requireArguments(claims, await read(args), args)
      out.result({ valid: true, receipt: claims, reason: null }, describe(claims, out))
      return 0
    } catch (error) {
      if (!(error instanceof InvalidReceipt)) throw error
      const { message: reason } = error
      out.result({ valid: false, receipt: null, reason }, `${out.paint('red', 'invalid')} ${reason}`)
      return 1
    }
  },
}

/** @throws {UsageError} */
const read = async (file: string): Promise<string> => {
  try {
    return file === '-' ? await textFrom(process.stdin) : await readFile(file, 'utf8')
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new UsageError(`${file} can’t be read (${code}).`, NAME)
  }
}

const download = async (baseUrl: string): Promise<string> => {
  try {
    const answer = await send(`${baseUrl}/.well-known/jwks.json`, { timeout: 10_000 })
    if (answer.ok) return await answer.text()
    throw new UsageError(`${baseUrl} answered ${answer.status} for its public keys.`, NAME)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { message, fix } = explainFailure(baseUrl, error)
    throw new UsageError(`${message} ${fix} Or give the keys with --jwks.`, NAME)
  }
}

/** @throws {UsageError} */
const keysIn = (text: string, file = 'The answer'): JWK[] => {
  try {
    const { keys } = JSON.parse(text)
    // Keys that sign other things don't vouch for a decision.
    if (Array.isArray(keys)) return keys.filter(({ purpose = 'receipts' }) => purpose === 'receipts')
  } catch {}
  throw new UsageError(`${file} isn’t a JWKS: {"keys": […]}.`, NAME)
}

/** @throws {InvalidReceipt} if the receipt is for other arguments; {UsageError} */
const requireArguments = ({ arguments_sha256 }: Receipt, text: string, file: string): void => {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    throw new UsageError(`${file} isn’t JSON.`, NAME)
  }
  if (sha256(canonicalJson(given)) !== arguments_sha256)
    throw new InvalidReceipt('It is a receipt for other arguments than these.')
}

const describe = (receipt: Receipt, { paint }: Invocation['out']): string =>
  [
    `${paint('green', 'valid')} ${receipt.jti}: ${receipt.sub} ${receipt.decision} ${receipt.tool}`,
    ...Object.entries(receipt).map(([name, value]) => `  ${name.padEnd(17)} ${value}`),
    `  decided at        ${new Date(receipt.iat * 1_000).toISOString()}`,
  ].join('\n')
