import { execFile } from 'node:child_process'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { listPublicKeys } from '#shared/foundation/signing-keys/publish.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { signReceipt } from '#shared/work/receipts/sign.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { readInvocation } from '../../cli/command.ts'
import { verifyReceiptCommand } from '../../cli/commands/verify-receipt.ts'
import { createOutput } from '../../cli/output.ts'
import { blocksOf } from '../e2e/guide-blocks.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'receipt-'))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const platform = usingPlatform()
const args = { url: 'https://example.com/', method: 'POST' }
let receipt = ''
let keys = ''

beforeAll(async () => {
  const work = createWorkerWork(platform.deps)
  const { text } = await signReceipt(work, {
    sub: 'usr_1',
    sid: 'ses_1',
    workspace_id: 'ws_1',
    app_id: 'app_1',
    installation_id: 'ins_1',
    run_id: 'run_1',
    step_id: 'stp_1',
    tool: 'http_fetch',
    arguments_sha256: sha256(canonicalJson(args)),
    policy_version: sha256(''),
    decision: 'approved',
  })
  receipt = text
  keys = file('keys.json', JSON.stringify({ keys: await listPublicKeys(work, 'receipts') }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})

/** Runs the command without a network and returns its exit code and JSON. */
const run = async (text: string, ...more: string[]) => {
  const printed: unknown[] = []
  const out = { ...createOutput(true), result: (value: unknown) => void printed.push(value) }
  const given = [file('receipt.txt', text), '--jwks', keys, ...more]
  const code = await verifyReceiptCommand.run(readInvocation(verifyReceiptCommand, given, {}, out, () => {}))
  // biome-ignore lint/suspicious/noExplicitAny: printed JSON
  return { code, printed: printed[0] as any }
}

describe('verify-receipt', () => {
  it('accepts a receipt offline, and shows who decided what', async () => {
    const given = file('arguments.json', JSON.stringify({ method: 'POST', url: 'https://example.com/' }, null, 2))
    const { code, printed } = await run(`${receipt}\n`, '--arguments', given, '--issuer', 'https://platform.test')
    expect([code, printed.valid, printed.receipt.sub, printed.receipt.decision]).toEqual([0, true, 'usr_1', 'approved'])
  })

  it('refuses a changed receipt, other arguments, and another platform, and says which', async () => {
    const other = file('other.json', '{"url": "https://example.com/"}')
    const changed = receipt.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    for (const [text, more, reason] of [
      [changed, [], /^(The signature|It isn’t)/],
      [receipt, ['--arguments', other], /other arguments/],
      [receipt, ['--issuer', 'https://elsewhere.test'], /not by https:\/\/elsewhere/],
      ['no receipt', [], /compact JWS/],
    ] as const) {
      const { code, printed } = await run(text, ...more)
      expect([code, printed.valid]).toEqual([1, false])
      expect(printed.reason).toMatch(reason)
    }
  })

  it('needs readable files', async () => {
    await expect(run(receipt, '--arguments', join(folder, 'missing'))).rejects.toThrow(/can’t be read/)
    await expect(run(receipt, '--jwks', file('bad.json', '[]'))).rejects.toThrow(/isn’t a JWKS/)
  })
})

describe('the snippet of the guide', () => {
  const code = blocksOf('receipts').find(({ language }) => language === 'js')
  const verify = (text: string) =>
    promisify(execFile)(process.execPath, [
      file('verify-receipt.mjs', code?.code ?? ''),
      file('given.txt', text),
      keys,
      'https://platform.test',
    ])

  it('accepts a receipt and refuses a changed one', async () => {
    expect((await verify(receipt)).stdout).toContain('usr_1 approved http_fetch')
    const middle = Math.floor(receipt.length / 2)
    const changed = receipt.slice(0, middle) + (receipt[middle] === 'a' ? 'b' : 'a') + receipt.slice(middle + 1)
    await expect(verify(changed)).rejects.toThrow()
    await expect(verify(`${receipt}=`)).rejects.toThrow()
  })
})
