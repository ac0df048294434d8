import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildCliPackage } from '#ops/cli-package.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { using } from '#testkit/using.ts'

const { folder, remove } = scratchFolder('updates-')
beforeAll(() => buildCliPackage(path.join(folder, 'tool')))
afterAll(() => remove())

/** A platform that knows a developer, and answers about its packages as a test wants. */
const platform = using(
  async () => {
    const asked: string[] = []
    const around = { asked, packages: (response: ServerResponse): void => void response.end('{}'), url: '' }
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      if (request.url === '/packages/') return around.packages(response)
      // A command's own answer is never the first one.
      setTimeout(() => response.end(JSON.stringify(DEVELOPER)), 300)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    around.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { around, server }
  },
  async ({ server }) => {
    server.closeAllConnections()
    server.close()
  },
)
afterEach(() => {
  platform.around.asked.length = 0
})

const DEVELOPER = { id: 'dev_1', email: 'ada@example.com', vendor: null, sandbox_workspace: { id: 'wsp_1' } }
const serving = (version: string, name = '@agent-integration-platform/cli') => {
  platform.around.packages = (response) => void response.end(JSON.stringify({ packages: [{ name, version }] }))
}
const own = (): string => JSON.parse(readFileSync(path.join(folder, 'tool/package.json'), 'utf8')).version
const next = (): string => own().replace(/\d+$/, (patch) => String(Number(patch) + 1))

let machines = 0
const newMachine = (): string => {
  const config = path.join(folder, `config-${machines++}`)
  mkdirSync(config)
  return config
}

/** Runs the built tool. Its standard error looks like a terminal, unless it isn't to. */
const aip = async (config: string, { args = ['whoami'], env = {}, terminal = true } = {}) => {
  const looks = 'data:text/javascript,Object.defineProperty(process.stderr,"isTTY",{value:true})'
  const child = spawn(
    process.execPath,
    [...(terminal ? ['--import', looks] : []), path.join(folder, 'tool/aip.js'), ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { NO_COLOR: '1', AIP_CONFIG: config, PLATFORM_URL: platform.around.url, DEVELOPER_KEY: 'dvk_1', ...env },
    },
  )
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text) => (stdout += text))
  child.stderr.on('data', (text) => (stderr += text))
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

describe('aip and a newer version of it', () => {
  it('are told apart once a day, on standard error, with the command that updates it from this platform', async () => {
    serving(next())
    const config = newMachine()
    const first = await aip(config)
    expect(first.code).toBe(0)
    expect(first.stdout).not.toContain('newer')
    expect(first.stderr).toContain(`The platform has a newer version of aip: ${next()} (this is ${own()}).`)
    const command = `npm install --global @agent-integration-platform/cli --@agent-integration-platform:registry=${platform.around.url}/packages/npm/`
    expect(first.stderr).toContain(command)
    expect((await aip(config)).stderr).not.toContain('newer')
    expect(platform.around.asked.filter((url) => url === '/packages/')).toHaveLength(1)
    const file = path.join(config, 'updates.json')
    const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString()
    writeFileSync(file, JSON.stringify({ [platform.around.url]: yesterday }))
    expect((await aip(config)).stderr).toContain('newer')
  })

  it('has its own text if the tool is a main version behind', async () => {
    const later = `${Number(own().split('.')[0]) + 1}.0.0`
    serving(later)
    expect((await aip(newMachine())).stderr).toContain(`is too old for the platform, which has ${later}`)
  })

  it('stays silent about the same, an older and a foreign version, and what is none', async () => {
    for (const answer of [
      () => serving(own()),
      () => serving('0.0.0'),
      () => serving('99.0.0', '@evil/cli'),
      () => serving('99.0.0; rm -rf /'),
      () => serving('99.0.0-beta'),
    ]) {
      answer()
      expect(await aip(newMachine())).toMatchObject({ code: 0, stderr: '' })
    }
  })

  it('isn’t asked for in CI, without a terminal, with --json, if switched off, or by commands that work offline', async () => {
    serving(next())
    for (const how of [
      { env: { CI: 'true' } },
      { env: { NO_UPDATE_NOTIFIER: '1' } },
      { terminal: false },
      { args: ['whoami', '--json'] },
      { args: ['completion', 'bash'] },
      { args: ['--version'] },
    ]) {
      const config = newMachine()
      expect(await aip(config, how)).toMatchObject({ code: 0, stderr: '' })
      expect(existsSync(path.join(config, 'updates.json'))).toBe(false)
    }
    expect(platform.around.asked).not.toContain('/packages/')
  })

  it('delays and fails no command, whatever the platform answers and wherever the files are', async () => {
    const answers: ((response: ServerResponse) => void)[] = [
      () => {}, // Never. The command would wait for it.
      (response) => void response.write('{"packages": ['),
      (response) => response.destroy(),
      (response) => void response.writeHead(500).end(),
      (response) => void response.end('<html>'),
      (response) => void response.end('{"packages": 7}'),
      (response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    ]
    for (const answer of answers) {
      platform.around.packages = answer
      expect(await aip(newMachine())).toMatchObject({ code: 0, stderr: '' })
    }
    serving(next())
    const config = newMachine()
    mkdirSync(path.join(config, 'updates.json'))
    expect(await aip(config)).toMatchObject({ code: 0, stderr: '' })
    const broken = newMachine()
    writeFileSync(path.join(broken, 'updates.json'), '[broken')
    expect((await aip(broken)).stderr).toContain('newer')
  })

  it('leaves the exit code of a command that fails', async () => {
    serving(next())
    const failed = await aip(newMachine(), { args: ['apps', 'show', 'nothing'] })
    expect(failed.code).not.toBe(0)
  })
})
