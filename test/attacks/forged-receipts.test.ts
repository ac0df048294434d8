import { generateKeyPairSync } from 'node:crypto'
import { CompactSign, exportJWK } from 'jose'
import { expect, it } from 'vitest'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { verifyReceipt } from '#shared/work/receipts/verify.ts'
import { ApprovalEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { isSampled } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()

const asked = async () => {
  agent.answer({ kind: 'answer', status: 202 })
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
  page.requests.length = 0
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const args = { url: page.url, method: 'POST', body: 'one' }
  const token = await callbackToken(platform.deps, app, run.id)
  const invoke = async () =>
    (await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: { arguments: args } })).body
  const { step_id } = await invoke()
  const decide = (decision: string) =>
    platform.call('POST', `/console/runs/${run.id}/steps/${step_id}/decision`, {
      token: app.person.token,
      body: { decision },
    })
  const approval = async () => await platform.deps.table.get(ApprovalEntity, { run_id: run.id, step_id })
  /** Acts as a compromised function: it can write the table, but lacks the keyring of receipts. */
  const overwrite = async (set: object) =>
    platform.deps.table.transact([ApprovalEntity.update({ run_id: run.id, step_id }, { set } as never)])
  /** Lets the sweeper wake the worker, which finds whatever the record says. */
  const wake = async () => {
    await overwrite({ due_at: 1 })
    await platform.sweep()
    await platform.drain()
  }
  return { app, run, args, step_id, invoke, decide, approval, overwrite, wake }
}

const jwks = async () => (await platform.call('GET', '/.well-known/jwks.json')).body.keys as { kid: string }[]
const verified = async (text: string) => {
  const keys = await jwks()
  return verifyReceipt(text, (kid) => keys.find((key) => key.kid === kid), 'https://platform.test')
}

it('a decision yields a receipt for agent and audit that anyone can verify with the published keys', async () => {
  const { app, run, args, step_id, invoke, decide } = await asked()
  await decide('approve')
  await platform.drain()
  const { receipt, result } = await invoke()
  expect(result.body).toBe('the page')
  expect(await verified(receipt)).toEqual({
    iss: 'https://platform.test',
    jti: expect.stringMatching(/^rcp_/),
    iat: Math.floor(platform.clock.now() / 1_000),
    sub: app.person.user.id,
    sid: expect.stringMatching(/^ses_/),
    workspace_id: app.workspaceId,
    app_id: app.app.id,
    installation_id: app.installation.id,
    run_id: run.id,
    step_id,
    tool: 'http_fetch',
    arguments_sha256: sha256(canonicalJson(args)),
    policy_version: expect.stringMatching(/^[0-9a-f]{64}$/),
    decision: 'approved',
  })
  const { items } = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 10 })
  expect(items[0]?.details.receipt).toBe(receipt)
  const keys = JSON.stringify(await jwks())
  expect(keys).not.toContain('"d"')
})

it('a rejection yields a receipt, too', async () => {
  const { invoke, decide } = await asked()
  await decide('reject')
  const { status, receipt } = await invoke()
  expect(status).toBe('rejected')
  expect((await verified(receipt)).decision).toBe('rejected')
})

it('every change of one byte is refused', async () => {
  const { invoke, decide } = await asked()
  await decide('approve')
  await platform.drain()
  const { receipt } = (await invoke()) as { receipt: string }
  const keys = await jwks()
  const check = (text: string) =>
    verifyReceipt(text, (kid) => keys.find((key) => key.kid === kid), undefined).then(
      () => 'accepted',
      () => 'refused',
    )
  expect(await check(receipt)).toBe('accepted')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const accepted: string[] = []
  for (let at = 0; at < receipt.length; at++) {
    // The end is always tried: not all bits of the last character count.
    if (at < receipt.length - 2 && !isSampled(at, 3)) continue
    const own = receipt.charCodeAt(at)
    // The neighbours differ in the last bits, which lenient decoders drop. The others cover the rest of the byte.
    const others = [own ^ 1, own ^ 2, own ^ 4, own ^ 8, own ^ 16, own ^ 32, own ^ 64].map((code) =>
      String.fromCharCode(code),
    )
    const inAlphabet = at > receipt.length - 2 ? [...alphabet] : []
    for (const other of new Set([...others, ...inAlphabet, '', '='])) {
      const changed = receipt.slice(0, at) + other + receipt.slice(at + 1)
      if (changed !== receipt && (await check(changed)) === 'accepted') accepted.push(`${at}: ${other}`)
    }
  }
  for (const changed of [`${receipt}=`, `${receipt}\n`, ` ${receipt}`, `${receipt}.`])
    if ((await check(changed)) === 'accepted') accepted.push(changed)
  expect(accepted).toEqual([])
})

it('an approval that was written into the table without a decision isn’t executed', async () => {
  const { overwrite, wake, approval } = await asked()
  await overwrite({ status: 'approved' })
  await wake()
  expect(page.requests).toHaveLength(0)
  expect(JSON.stringify(await approval())).toContain('receipt_invalid')
})

it('a receipt of another call, or signed with another key, executes nothing', async () => {
  const other = await asked()
  await other.decide('approve')
  await platform.drain()
  const receipt = (await other.approval())?.receipt ?? ''
  const { overwrite, wake, approval } = await asked()
  await overwrite({ status: 'approved', receipt })
  await wake()
  expect(page.requests).toHaveLength(0)

  const again = await asked()
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const claims = {
    ...(await verified(receipt)),
    run_id: again.run.id,
    step_id: again.step_id,
    workspace_id: again.app.workspaceId,
    installation_id: again.app.installation.id,
  }
  const forged = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({
      alg: 'ES256',
      typ: 'approval-receipt+jwt',
      kid: (await jwks())[0]?.kid ?? '',
      jwk: await exportJWK(publicKey),
    })
    .sign(privateKey)
  await again.overwrite({ status: 'approved', receipt: forged })
  await again.wake()
  expect(page.requests).toHaveLength(0)
  expect(JSON.stringify([await approval(), await again.approval()]).match(/receipt_invalid/g)).toHaveLength(2)
})

it('a receipt executes its call once, whatever is written into the table afterwards', async () => {
  const { decide, overwrite, wake, approval } = await asked()
  await decide('approve')
  await platform.drain()
  expect(page.requests).toHaveLength(1)
  await overwrite({ status: 'approved' })
  await wake()
  expect(page.requests).toHaveLength(1)
  expect(JSON.stringify(await approval())).toContain('receipt_used')
})

it('an approved call whose arguments were exchanged isn’t executed', async () => {
  const { decide, overwrite, wake, approval } = await asked()
  await decide('approve')
  const body = { url: page.url, method: 'POST', body: 'two' }
  await overwrite({
    arguments: { json: JSON.stringify(body) },
    call_hash: sha256(`http_fetch\n${canonicalJson(body)}`),
  })
  await wake()
  expect(page.requests).toHaveLength(0)
  expect(JSON.stringify(await approval())).toContain('receipt_invalid')
})
