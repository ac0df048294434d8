import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { AuditIntakeEntity } from '#shared/staff/audit/entity.ts'
import { runCommand } from '#testkit/command.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

// As in a new stack: no admins yet, and the command uses the real clock.
const platform = usingPlatform({ LOCAL_ADMIN: 'false' })

/** Runs the operator's command as a shell would. */
const run = (...args: string[]) =>
  runCommand('ops/admin.ts', [...args, '--stage', 'prod', '--table', platform.tableName], {
    env: { AWS_ENDPOINT_URL_DYNAMODB: platform.store.endpoint },
  })

const signIn = (email: string, password = '') =>
  platform.call('POST', '/admin/auth/login', { body: { email, password }, sourceIp: '203.0.113.9' })
const me = (key = '') => platform.call('GET', '/admin/me', { headers: { 'x-admin-key': key } })
const passwordIn = (output: string) => /^Password: (.+)$/m.exec(output)?.[1]
const keyIn = (output: string) => /^X-Admin-Key: (adk_[\w-]{43})$/m.exec(output)?.[1]

describe('npm run admin', () => {
  it('creates the first superadmin, a key, another key and another password, all audited without secrets', async () => {
    platform.clock.advance(Date.now() - platform.clock.now())
    const made = await run('create', '--email', 'Ops@Example.com', '--name', 'Ops')
    expect(made, made.output).toMatchObject({ code: 0 })
    const password = passwordIn(made.output)
    expect((await signIn('ops@example.com', password)).body.admin).toMatchObject({ name: 'Ops', role: 'superadmin' })
    const again = await run('create', '--email', 'ops@example.com')
    expect([again.code, again.output]).toEqual([
      1,
      expect.stringContaining('An admin account with this e-mail address already exists'),
    ])

    const keyed = await run('key', '--email', 'ops@example.com', '--name', 'ci', '--days', '2')
    const key = keyIn(keyed.output)
    expect((await me(key)).body).toMatchObject({ email: 'ops@example.com', key_name: 'ci', role: 'superadmin' })
    const id = /aky_\w+/.exec((await run('keys', '--email', 'ops@example.com')).output)?.[0] ?? ''
    const rotated = await run('rotate', '--email', 'ops@example.com', '--key', id)
    expect((await me(key)).status).toBe(401)
    expect((await me(keyIn(rotated.output))).status).toBe(200)
    expect((await run('remove-key', '--email', 'ops@example.com', '--key', id)).code).toBe(0)
    expect((await me(keyIn(rotated.output))).status).toBe(401)

    const reset = await run('reset-password', '--email', 'ops@example.com')
    expect((await signIn('ops@example.com', password)).status).toBe(401)
    expect((await signIn('ops@example.com', passwordIn(reset.output))).status).toBe(200)

    const { items } = await platform.deps.table.query(AuditIntakeEntity, { scope: 'platform' }, { limit: 50 })
    const byOperator = items.filter(({ actor }) => actor.id === 'operator')
    expect(new Set(byOperator.map(({ action }) => action))).toEqual(
      new Set(['admin.created', 'admin.key_created', 'admin.key_rotated', 'admin.key_deleted', 'admin.edited']),
    )
    const auditText = JSON.stringify(items)
    for (const secret of [password, key, passwordIn(reset.output), keyIn(rotated.output)])
      expect(auditText).not.toContain(secret)
  })

  it('shows a password that it generated, never one that was given', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'password-'))
    const file = path.join(folder, 'password')
    try {
      for (const [i, name] of ['create', 'reset-password'].entries()) {
        const password = `given by the operator ${i}`
        writeFileSync(file, `${password}\n`)
        const { code, output } = await run(name, '--email', 'given@example.com', '--password-file', file)
        expect([code, output]).toEqual([0, expect.not.stringContaining('given by')])
        expect((await signIn('given@example.com', password)).status).toBe(200)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('says what is missing, and never shows a given password', async () => {
    for (const [args, words] of [
      [['create'], 'Give --email'],
      [['destroy', '--email', 'a@example.com'], 'Give one command'],
      [['key', '--email', 'nobody@example.com'], 'has no admin account'],
      [['create', '--email', 'no address'], 'must be an e-mail address'],
    ] as const) {
      const { code, output } = await run(...args)
      expect([code, output]).toEqual([1, expect.stringContaining(words)])
    }
  })
})
