import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorList, errorTable, runErrorTable } from '#openapi/guide-errors.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { RUN_ERRORS, type RunErrorCode } from '#shared/kernel/run-errors.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const codes = Object.keys(RUN_ERRORS) as RunErrorCode[]

/** Starts a run and stores a failure in its record, as the platform did before runs had an `error`. */
const failedRun = async (error_code: string, error_message = 'It said so.') => {
  const client = await installed(platform.deps, { scopes: ['runs:read', 'runs:write'] })
  const { body } = await platform.call('POST', '/api/v1/runs', { token: client.token, body: {} })
  const at = { installation_id: client.installation.id, id: body.id as string }
  await platform.deps.table.transact([
    RunEntity.update(at, { set: { status: 'failed', error_code, error_message, finished_at: platform.clock.now() } }),
  ])
  return { ...client, at }
}
const read = async (path: string, token: string) => (await platform.call('GET', path, { token })).body

describe('the error of a failed run', () => {
  it.each(codes)('%s says what to do and where it is documented, for stored runs as well', async (code) => {
    const { token, at } = await failedRun(code)
    const run = await read(`/api/v1/runs/${at.id}`, token)
    const { fix } = RUN_ERRORS[code]
    expect(run.error).toEqual({ code, message: 'It said so.', fix, docs_url: `https://platform.test/docs#${code}` })
    expect([run.error_code, run.error_message]).toEqual([code, 'It said so.'])
    expect((await read('/api/v1/runs', token)).items[0].error).toEqual(run.error)
  })

  it('leads to agent_failed for a code of the agent’s own, even one like a property of every object', async () => {
    for (const code of ['stock_unknown', 'constructor', '__proto__']) {
      const { token, at } = await failedRun(code)
      const { error } = await read(`/api/v1/runs/${at.id}`, token)
      expect(error).toMatchObject({ code, docs_url: 'https://platform.test/docs#agent_failed' })
      expect(error.fix).toContain('developer')
    }
  })

  it('is null unless the run failed', async () => {
    const { token } = await installed(platform.deps, { scopes: ['runs:read', 'runs:write'] })
    const { body } = await platform.call('POST', '/api/v1/runs', { token, body: {} })
    expect(body.error).toBeNull()
    expect((await platform.call('POST', `/api/v1/runs/${body.id}/cancel`, { token })).body.error).toBeNull()
  })

  it('comes with the answer that ends the run, and is agent_failed without a code', async () => {
    const client = await installed(platform.deps, { scopes: ['runs:read', 'runs:write'] })
    const { body } = await platform.call('POST', '/api/v1/runs', { token: client.token, body: {} })
    const at = { installation_id: client.installation.id, id: body.id }
    await platform.deps.table.transact([RunEntity.update(at, { set: { status: 'running' } })])
    const token = await callbackToken(platform.deps, client, body.id)
    const path = `/api/v1/runs/${body.id}/complete`
    const ended = await platform.call('POST', path, { token, body: { status: 'failed', error_message: 'No stock.' } })
    expect(ended.body.error, ended.text).toMatchObject({ code: 'agent_failed', message: 'No stock.' })
  })
})

describe('the codes of failed runs', () => {
  it('each have a heading of their own on both pages, with cause and fix', () => {
    for (const page of [errorList(), `${errorTable()}\n\n${runErrorTable()}`]) {
      const headings = page.match(/^### \w+$/gm) ?? []
      expect(new Set(headings).size).toBe(headings.length)
      for (const code of codes) expect(headings).toContain(`### ${code}`)
    }
    const full = `${errorTable()}\n\n${runErrorTable()}`
    for (const code of codes) {
      const { fix, meaning, ...rest } = RUN_ERRORS[code]
      for (const words of [meaning, fix, ...('cause' in rest ? [rest.cause] : [])]) expect(full, code).toContain(words)
    }
  })

  it('are all in the contract', () => {
    const page = readFileSync(resolve('docs/contract/errors.md'), 'utf8')
    const section = page.slice(page.indexOf('## Run error codes'))
    for (const code of codes) expect(section, code).toContain(`\`${code}\``)
  })

  it('include those that endpoints may answer with when no run is involved', () => {
    for (const code of ['agent_unreachable', 'llm_error', 'llm_not_configured']) {
      expect(codes).toContain(code)
      expect(ERRORS).toHaveProperty(code)
    }
  })
})
