import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deleteData } from '#local/data-dir.ts'
import { createDynamodbCall } from '#local/dynamodb/client.ts'
import { dynoxideBinary } from '#local/dynamodb/process.ts'
import { startPlatform } from '#local/platform.ts'
import { FIXTURE_BUNDLES, fixtureAssembly, startFixture, temporaryFolder } from './support.ts'

const START = path.resolve(import.meta.dirname, '../../local/start.ts')

let place: ReturnType<typeof temporaryFolder>
const cleanups: (() => unknown)[] = []
beforeEach(() => {
  place = temporaryFolder()
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  place.remove()
})

const start: typeof startFixture = async (...args) => {
  const platform = await startFixture(...args)
  cleanups.push(platform.stop)
  return platform
}
const answer = async (url: string) => JSON.parse(await (await fetch(url)).text())

/** Starts the platform in its own process and waits for the line that it prints. */
const startElsewhere = async (dataDir: string) => {
  const options = JSON.stringify({ dataDir, cdkOut: await fixtureAssembly(), bundles: FIXTURE_BUNDLES })
  const module = JSON.stringify(path.resolve(import.meta.dirname, '../../local/platform.ts'))
  const code = `const { startPlatform } = await import(${module}); const p = await startPlatform(${options}); console.log(p.baseUrl)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()))
    child.once('exit', (exit) => reject(new Error(`It ended with ${exit}`)))
  })
  return { child, baseUrl }
}

test('starts, and stops with everything it started', async () => {
  const platform = await start(place.folder)
  const pid = Number(readFileSync(path.join(place.folder, 'dynamodb.pid'), 'utf8'))
  expect(process.kill(pid, 0)).toBe(true)
  await platform.stop()
  expect(() => process.kill(pid, 0)).toThrow()
  await expect(fetch(platform.baseUrl)).rejects.toThrow()
})

test('is warm once the bundle of every function is loaded', async () => {
  const bundles = path.join(place.folder, 'bundles')
  const marks = readdirSync(FIXTURE_BUNDLES).map((name) => {
    const mark = path.join(place.folder, `${name}.loaded`)
    mkdirSync(path.join(bundles, name), { recursive: true })
    writeFileSync(
      path.join(bundles, name, 'index.cjs'),
      `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')
      exports.handler = async () => undefined`,
    )
    return mark
  })
  const platform = await start(path.join(place.folder, 'data'), { bundles, startSources: false })
  await platform.warm()
  expect(marks.filter((mark) => !existsSync(mark))).toEqual([])
})

describe('the records of the stream', () => {
  const NUMBERED = 'FROM _stream_records WHERE table_name = ?'
  const QUERIES = [
    `SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 ${NUMBERED}`,
    `SELECT event_name ${NUMBERED} AND shard_id = ? AND CAST(sequence_number AS INTEGER) > ? ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT ?`,
  ]
  const open = () => {
    const database = new DatabaseSync(path.join(place.folder, 'dynamodb.db'))
    cleanups.push(() => database.close())
    return database
  }

  test('are found by their number, so that a write and a poll have a constant cost', async () => {
    await start(place.folder)
    const database = open()
    for (const query of QUERIES) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${query}`).all(...Array(query.split('?').length - 1).fill(0))
      expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH .* stream_records_by_number/)])
    }
  })

  test('are deleted after a day, except the last one, from whose number the next ones continue', async () => {
    const first = await start(place.folder)
    for (let i = 0; i < 3; i++) await fetch(`${first.baseUrl}/v1/things/${i}`, { method: 'POST', body: '{}' })
    await first.stop()
    const database = open()
    const numbers = () => database.prepare('SELECT sequence_number AS n FROM _stream_records').all()
    expect(numbers().length).toBeGreaterThan(1)
    const last = numbers().at(-1)
    database.exec('UPDATE _stream_records SET created_at = created_at - 86410')
    await start(place.folder)
    expect(numbers()).toEqual([last])
  })
})

describe('says what is wrong and what to do', () => {
  test('when a second run uses the same folder', async () => {
    await start(place.folder)
    await expect(startFixture(place.folder)).rejects.toThrow(/Another local run uses .* DATA_DIR/)
    await expect(deleteData(place.folder)).rejects.toThrow(/Another local run/)
  })

  test('when the port is taken', async () => {
    const first = await start(place.folder)
    const other = temporaryFolder()
    cleanups.push(other.remove)
    const port = Number(new URL(first.baseUrl).port)
    await expect(startFixture(other.folder, { port })).rejects.toThrow(`Port ${port} is in use`)
    // The failed run has cleaned up, so the folder can be used.
    await start(other.folder)
  })

  test('when there is no DynamoDB for this machine', () => {
    expect(() => dynoxideBinary('plan9-mips')).toThrow(/@dynoxide\/plan9-mips.*npm install.*AWS_ENDPOINT_URL_DYNAMODB/)
  })

  test.each([
    [{ PORT: 'abc' }, /PORT is not a port: abc/],
    [{ PORT: '70000' }, /PORT is not a port/],
  ])('on the command line: %j', (env, message) => {
    const run = () => execFileSync(process.execPath, [START], { env: { ...process.env, ...env }, stdio: 'pipe' })
    expect(run).toThrow(message)
  })

  test('when an earlier run’s table differs from the template’s', async () => {
    await (await startFixture(place.folder)).stop()
    const changed = path.join(place.folder, 'changed')
    cpSync(await fixtureAssembly(), changed, { recursive: true })
    const file = path.join(changed, 'Data.template.json')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"due"', '"overdue"'))
    const starting = startPlatform({ dataDir: place.folder, cdkOut: changed, bundles: FIXTURE_BUNDLES })
    await expect(starting).rejects.toThrow(/Start with --fresh/)
  })
})

test('after a kill, the next run takes over, including the leftover server and data', async () => {
  const { child, baseUrl } = await startElsewhere(place.folder)
  const stored = await fetch(`${baseUrl}/v1/things/kept`, { method: 'POST', body: '{}' })
  expect(stored.status).toBe(201)
  const leftover = Number(readFileSync(path.join(place.folder, 'dynamodb.pid'), 'utf8'))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  const platform = await start(place.folder)
  expect(execFileSync('ps', ['-e', '-o', 'pid=,args='], { encoding: 'utf8' })).not.toMatch(
    new RegExp(`^ *${leftover} .*dynamodb.db`, 'm'),
  )
  const { call, close } = createDynamodbCall(platform.endpoints.dynamodb)
  const Key = { pk: { S: 'thing#kept' }, sk: { S: 'event' } }
  const found = await call<{ Item?: object }>('DynamoDB_20120810.GetItem', { TableName: platform.tableName, Key })
  close()
  expect(found.Item).toBeDefined()
})

test('reports when DynamoDB exits unexpectedly', async () => {
  const platform = await start(place.folder)
  process.kill(Number(readFileSync(path.join(place.folder, 'dynamodb.pid'), 'utf8')), 'SIGKILL')
  expect((await platform.failed).message).toMatch(/DynamoDB exited unexpectedly/)
})

test('--fresh deletes the data and nothing else', async () => {
  writeFileSync(path.join(place.folder, 'mine.txt'), 'kept')
  mkdirSync(path.join(place.folder, 'cdk.out'))
  const platform = await startFixture(place.folder)
  await fetch(`${platform.baseUrl}/v1/things/x`, { method: 'POST', body: '{}' })
  const secret = await platform.fire('sweep')
  expect(secret).toBeUndefined()
  await platform.stop()
  await deleteData(place.folder)
  const { readdirSync } = await import('node:fs')
  expect(readdirSync(place.folder)).toEqual(['cdk.out', 'mine.txt'])
})

describe('a function', () => {
  test('that crashes fails its running invocations and none after', async () => {
    const platform = await start(place.folder)
    const slow = fetch(`${platform.baseUrl}/x?mode=slow`)
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect((await fetch(`${platform.baseUrl}/x?mode=crash`)).status).toBe(502)
    expect((await slow).status).toBe(502)
    expect(await answer(`${platform.baseUrl}/v1`)).toMatchObject({ invocations: 1 })
  })

  test('that is reloaded completes its running invocations in the old thread', async () => {
    const platform = await start(place.folder)
    expect(await answer(`${platform.baseUrl}/v1`)).toMatchObject({ invocations: 1 })
    const slow = fetch(`${platform.baseUrl}/x?mode=slow`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    platform.reload('api')
    expect(await answer(`${platform.baseUrl}/v1`)).toMatchObject({ invocations: 1 })
    expect(await (await slow).text()).toBe('slow')
  })

  test('is found by folder, logical id and ARN; an unknown one is named in the error', async () => {
    const platform = await start(place.folder)
    const model = platform.model.functions.find(({ name }) => name === 'api')
    for (const id of [model?.name, model?.logicalId, model?.arn]) {
      const result = await platform.invoke(id ?? '', { queryStringParameters: null, resource: '/' })
      expect(result).toMatchObject({ kind: 'value', value: { statusCode: 200 } })
    }
    await expect(platform.invoke('nobody', {})).rejects.toThrow(
      /Unknown function nobody. Available functions: api, stream/,
    )
  })

  test('can be intercepted at its event, its result and its invocation', async () => {
    const platform = await start(place.folder)
    const off = platform.intercept('api', async () => ({
      kind: 'value',
      value: { statusCode: 418, body: '' },
      bytes: 2,
    }))
    expect((await fetch(`${platform.baseUrl}/v1`)).status).toBe(418)
    off()
    expect((await fetch(`${platform.baseUrl}/v1`)).status).toBe(200)
  })
})
