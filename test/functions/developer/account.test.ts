import { describe, expect, it } from 'vitest'
import { newDeveloper, unique } from '#testkit/developers.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const register = (body: unknown, headers: Record<string, string> = {}) =>
  platform.call('POST', '/api/v1/dev/register', { body, headers })

describe('POST /api/v1/dev/register', () => {
  it('answers 201 with the account, its key and a sandbox workspace with an invite link', async () => {
    const email = `${unique('new')}@example.com`
    const { status, body, headers } = await register({ email, name: 'Ada', company: 'Example Ltd' })
    expect(status).toBe(201)
    expect(body.developer).toMatchObject({ email, name: 'Ada', company: 'Example Ltd', status: 'active' })
    expect(body.developer.id).toMatch(/^dev_[0-9a-z]{26}$/)
    expect(body.api_key).toMatch(/^dvk_[A-Za-z0-9_-]{43}$/)
    expect(body.sandbox_workspace).toMatchObject({ id: expect.stringMatching(/^ws_/), is_sandbox: true })
    expect(body.sandbox_workspace.invite_link).toMatch(/join_[A-Za-z0-9_-]{20,}$/)
    expect(headers['cache-control']).toBe('no-store')
  })

  it('answers conflict for an email address in use, ignoring case', async () => {
    const email = `${unique('Case')}@Example.com`
    expect((await register({ email, name: 'A' })).status).toBe(201)
    const again = await register({ email: email.toUpperCase(), name: 'B' })
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  })

  it('creates one account when one email address registers 10 times concurrently', async () => {
    const email = `${unique('race')}@example.com`
    const answers = await Promise.all(Array.from({ length: 10 }, () => register({ email, name: 'A' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9)
  })

  it.each([
    [{}, ['email', 'name']],
    [{ email: 'no', name: 'A' }, ['email']],
    [{ email: 'a@example.com', name: '  ' }, ['name']],
    [{ email: 'a@example.com', name: 'A', admin: true }, ['admin']],
    [{ email: 5, name: null }, ['email', 'name']],
    [{ email: 'a@example.com', name: 'A'.repeat(101), company: 'x'.repeat(201) }, ['company', 'name']],
  ])('names every invalid field of %j', async (body, fields) => {
    const answer = await register(body)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error'])
    expect(Object.keys(answer.body.error.details.fields).sort()).toEqual(fields)
  })

  it('stores neither the key nor the invite link in plain text', async () => {
    const { body } = await register({ email: `${unique('plain')}@example.com`, name: 'Ada' })
    const nonce = body.sandbox_workspace.invite_link.split('join_')[1]
    expect(platform.logs.join('\n')).not.toContain(body.api_key)
    const { ScanCommand } = await import('@aws-sdk/client-dynamodb')
    const { Items } = await platform.store.client.send(new ScanCommand({ TableName: platform.tableName }))
    const stored = JSON.stringify(Items)
    expect(stored).toContain(body.developer.id)
    expect(stored).not.toContain(body.api_key)
    expect(stored).not.toContain(nonce)
  })
})

describe('GET /api/v1/dev/me', () => {
  it('returns the profile of the key’s account', async () => {
    const developer = await newDeveloper(platform)
    const { status, body } = await developer.call('GET', '/api/v1/dev/me')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: developer.id,
      vendor: null,
      verified: false,
      sandbox_workspace: { id: developer.workspaceId, is_sandbox: true },
    })
    expect(JSON.stringify(body)).not.toMatch(/hash|dvk_/)
  })
})
