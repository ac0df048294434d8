import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '#testkit/scratch.ts'

const run = promisify(execFile)
const ROOT = path.resolve(import.meta.dirname, '../..')
const { folder, remove } = scratchFolder('publish-')
const log = path.join(folder, 'published')

/** Integrity of version 1.0.0 of each package in the registry. */
const integrities = new Map<string, string>()
/** Answers like npm's registry. */
const registry = createServer((request, response) => {
  const name = decodeURIComponent(request.url?.slice(1) ?? '')
  const integrity = integrities.get(name)
  response.setHeader('content-type', 'application/json')
  if (integrity === undefined) return void response.writeHead(404).end('{"error":"Not found"}')
  const version = { name, version: '1.0.0', dist: { integrity, tarball: 'http://127.0.0.1/none.tgz' } }
  response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }))
})
let address = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`
  // Publishing with provenance works in a workflow only, so it is recorded. Everything else is npm itself.
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh\ncase $1 in publish) basename "$2" >> ${log} ;; *) exec ${npm} "$@" ;; esac\n`
  mkdirSync(path.join(folder, 'bin'))
  writeFileSync(path.join(folder, 'bin/npm'), script)
  chmodSync(path.join(folder, 'bin/npm'), 0o755)
  for (const name of ['one', 'two']) {
    mkdirSync(path.join(folder, name))
    writeFileSync(
      path.join(folder, name, 'package.json'),
      JSON.stringify({ name: `@example/${name}`, version: '1.0.0' }),
    )
  }
})
afterAll(() => {
  registry.close()
  remove()
})
beforeEach(() => {
  integrities.clear()
  writeFileSync(log, '')
})

const publish = async (): Promise<{ code: number; stderr: string }> => {
  const env = {
    PATH: `${path.join(folder, 'bin')}${path.delimiter}${process.env.PATH}`,
    HOME: folder,
    npm_config_registry: address,
    npm_config_cache: path.join(folder, 'cache'),
    npm_config_fetch_retries: '0',
  }
  return run(
    process.execPath,
    [path.join(ROOT, 'ops/publish.ts'), path.join(folder, 'one'), path.join(folder, 'two')],
    {
      cwd: folder,
      env,
    },
  ).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  )
}

const published = (): string[] => readFileSync(log, 'utf8').split('\n').filter(Boolean)

/** Returns the integrity of a package's bytes. */
const integrityOf = async (name: string): Promise<string> => {
  const target = path.join(folder, `packed-${name}`)
  if (!existsSync(target)) mkdirSync(target)
  await run('npm', ['pack', path.join(folder, name), '--pack-destination', target])
  const [tarball = ''] = readdirSync(target)
  return `sha512-${createHash('sha512')
    .update(readFileSync(path.join(target, tarball)))
    .digest('base64')}`
}

describe('publishing to npm', () => {
  it('publishes what isn’t there', async () => {
    expect(await publish()).toMatchObject({ code: 0 })
    expect(published()).toEqual(['example-one-1.0.0.tgz', 'example-two-1.0.0.tgz'])
  })

  it('completes a release of which the second package failed', async () => {
    integrities.set('@example/one', await integrityOf('one'))
    expect(await publish()).toMatchObject({ code: 0 })
    expect(published()).toEqual(['example-two-1.0.0.tgz'])
  })

  it('refuses a version that is there with other bytes', async () => {
    integrities.set('@example/one', 'sha512-another')
    const { code, stderr } = await publish()
    expect([code, published()]).toEqual([1, []])
    expect(stderr).toContain('@example/one 1.0.0 is there with other bytes')
  })
})
