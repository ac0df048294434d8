import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { findChangedPackages } from '#ops/packages/served.ts'
import { shellBlocks } from '#test/docs/commands.ts'
import { pagesIn } from '#test/docs/markdown.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { filesOf, startOf } from '../../cli/project/templates.ts'
import { usingPublicRegistry } from './public-registry.ts'
import { pythonVersion } from './python.ts'
import { usingLocal } from './using-local.ts'

const run = promisify(execFile)
const running = usingLocal()
const registry = usingPublicRegistry()
const { folder, remove } = scratchFolder('packages-')
afterAll(() => remove())

/** A machine of its own: nothing is configured or cached, and the public registry has only what our packages need. */
const env = () => ({
  PATH: `${path.join(folder, 'global/bin')}:${process.env.PATH}`,
  HOME: folder,
  AIP_CONFIG: path.join(folder, 'config'),
  PLATFORM_URL: running.baseUrl,
  npm_config_prefix: path.join(folder, 'global'),
  npm_config_cache: path.join(folder, 'cache'),
  npm_config_registry: registry.url,
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  PIP_CONFIG_FILE: '/dev/null',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  // The dependencies of the Python SDK are on a public index, which may be unreachable.
  PIP_NO_DEPS: '1',
  PIP_TARGET: 'modules',
})

let places = 0
const place = (): string => {
  const made = path.join(folder, `place-${places++}`)
  mkdirSync(made)
  return made
}
const sh = (command: string, cwd: string) => run('sh', ['-c', command], { cwd, env: env() })

const INSTALLS =
  /^(?:npm (?:i|install|ci|exec|x)|npx|pnpx?|yarn|bunx?|(?:\S*\/)?pip3?|pipx|uvx?|python3? -m pip)(?: |$)/

/** Finds the commands of a text that install something. */
const installsIn = (text: string): string[] =>
  [
    ...shellBlocks(text.replaceAll(/^( *```sh)[^\n]*$/gm, '$1')),
    ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
  ]
    .flatMap((code) => code.split(/\n|&&/))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => INSTALLS.test(line))

/** Commands of documents that install no package of ours by its name. */
const OTHERS: Record<string, RegExp> = {
  'what this repository’s lock file names': /^(npm ci|npx (cdk|vitest|tsx)( .*)?)$/,
  'what a project of aip init names, which the stopwatch follows':
    /^(npm install|(\.venv\/bin\/)?pip install -r requirements\.txt)$/,
  'packages of others, under their own names':
    /^(npm install openid-client|pip install (authlib requests|requests-oauthlib)|pipx run openapi-python-client .*)$/,
  'a warning': /^npx aip$/,
}

/** Documents by their names. The guides are as this platform serves them. */
const readDocuments = async (): Promise<Map<string, string>> => {
  const files = [
    '.',
    'docs',
    'docs/contract',
    'cli',
    'packages/sdk-ts',
    'packages/sdk-py',
    'examples',
    'events',
  ].flatMap(pagesIn)
  const served = await Promise.all(
    pagesIn('docs/guides').map(async (guide) => {
      const name = `/docs/${path.basename(guide)}`
      return [name, await (await fetch(running.baseUrl + name)).text()] as const
    }),
  )
  const page = await (await fetch(`${running.baseUrl}/packages/`, { headers: { accept: 'text/html' } })).text()
  const templates = (['ts', 'py', 'a2a'] as const).map(
    (kind) =>
      [
        `aip init --${kind}`,
        startOf(kind)
          .map((command) => `\`${command}\``)
          .join('\n'),
      ] as const,
  )
  const readme = filesOf('a2a', { ...PROJECT, baseUrl: running.baseUrl })['README.md'] ?? ''
  return new Map([
    ...files.map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')] as const),
    ...served,
    ['/packages/', [...page.matchAll(/<code>((?:npm|pip) [^<\n]+)/g)].map(([, code]) => `\`${code}\``).join('\n')],
    ...templates,
    ['README.md of aip init --a2a', readme],
  ])
}

const PROJECT = { slug: 'a', vendor: 'a', name: 'A', summary: '', endpoint: '', version: '1.0.0', scope: '', wheel: '' }

describe('the commands of all documents that install something', () => {
  it('name packages of ours only with this platform’s address, and each of them works in an empty folder', async () => {
    const found = new Map<string, string[]>()
    for (const [name, text] of await readDocuments()) {
      for (const command of installsIn(text)) {
        if (Object.values(OTHERS).some((pattern) => pattern.test(command))) continue
        const put = command.replaceAll('$PLATFORM_URL', running.baseUrl).replaceAll(/[\u2018\u2019]/g, "'")
        found.set(put, [...(found.get(put) ?? []), name])
      }
    }
    for (const command of found.keys()) expect(command).toContain(`${running.baseUrl}/packages/`)
    const hasPython = (await pythonVersion()) !== undefined
    const tried = new Set<string>()
    for (const [command, names] of found) {
      const isPython = command.startsWith('pip')
      if (isPython && !hasPython) continue
      const cwd = place()
      await sh(command, cwd).catch((error: Error) => {
        throw new Error(`${names.join(', ')}: ${error.message}`)
      })
      if (isPython) {
        await sh('test -f modules/agent_integration_platform/__init__.py', cwd)
        tried.add('Python')
      } else if (command.includes('--global')) {
        expect((await sh('aip --version', cwd)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
        await sh('npm uninstall --global @agent-integration-platform/cli', cwd)
        tried.add('tool')
      } else {
        await sh(`node --input-type=module -e "await import('@agent-integration-platform/sdk')"`, cwd)
        tried.add('SDK')
      }
    }
    expect(tried).toEqual(new Set(['tool', 'SDK', ...(hasPython ? ['Python'] : [])]))
    const sources = new Set([...found.values()].flat())
    for (const name of [
      'README.md',
      'cli/README.md',
      '/docs/hosted-quickstart.md',
      '/docs/client-libraries.md',
      '/packages/',
    ])
      expect(sources).toContain(name)
  })
})

describe('the packages of a running platform', () => {
  it('are what a project of aip init gets, and its lock file installs it again', async () => {
    const cwd = place()
    const { packages } = (await (await fetch(`${running.baseUrl}/packages/`)).json()) as {
      packages: { name: string }[]
    }
    expect(packages.map(({ name }) => name)).toContain('@agent-integration-platform/cli')
    await sh(
      'npm install --global @agent-integration-platform/cli --@agent-integration-platform:registry=$PLATFORM_URL/packages/npm/',
      cwd,
    )
    await sh('aip register --email packages@example.com --name Packages && aip init packages-agent --ts', cwd)
    const project = path.join(cwd, 'packages-agent')
    await sh('npm install', project)
    const lock = JSON.parse(readFileSync(path.join(project, 'package-lock.json'), 'utf8'))
    const { resolved, integrity } = lock.packages['node_modules/@agent-integration-platform/sdk']
    // The URL names the bytes, so it leads to them also after a deployment.
    expect(resolved).toMatch(
      new RegExp(`^${running.baseUrl}/packages/npm/@agent-integration-platform/sdk/-/[0-9a-f]{64}/`),
    )
    expect(integrity).toMatch(/^sha512-/)
    await sh(
      'rm -rf node_modules "$npm_config_cache" && npm ci && test -d node_modules/@agent-integration-platform/sdk',
      project,
    )
  })

  it('are refused if a file isn’t the one that the list describes', async ({ skip }) => {
    if ((await pythonVersion()) === undefined) skip('this machine has no python3')
    const project = place()
    const list = (await (await fetch(`${running.baseUrl}/packages/`)).json()) as {
      packages: { name: string; kind: string; url: string; sha256: string }[]
    }
    const { name, url, sha256 } = list.packages.find(({ kind }) => kind === 'python') ?? {}
    const install = (hash: string) => sh(`python3 -m pip install --quiet '${name} @ ${url}#sha256=${hash}'`, project)
    await expect(install('0'.repeat(64))).rejects.toThrow(/MISMATCH|DO NOT MATCH|Expected sha256/i)
    await install(sha256 ?? '')
    const code = 'import agent_integration_platform as sdk; print(sdk.__name__)'
    expect((await sh(`PYTHONPATH=modules python3 -c "${code}" 2>&1 || ls modules`, project)).stdout).toContain(
      'agent_integration_platform',
    )
  })

  it('are compared before a deployment, which names each package whose version it would change', async () => {
    const built = path.join(ROOT, 'dist/packages-assets')
    expect(await findChangedPackages(running.baseUrl, built)).toEqual([])
    const other = path.join(folder, 'other-build')
    cpSync(built, other, { recursive: true })
    const file = path.join(other, 'packages-files.json')
    const change = (edit: (table: { npm: Packed[]; python: Packed[] }) => void) => {
      const table = JSON.parse(readFileSync(path.join(built, 'packages-files.json'), 'utf8'))
      edit(table)
      writeFileSync(file, JSON.stringify(table))
    }
    interface Packed {
      manifest: { version: string }
      version: string
      file: string
      sha256: string
      sha512: string
    }
    change(({ npm, python }) => {
      for (const one of [npm[1], python[0]]) Object.assign(one as Packed, { sha256: '0'.repeat(64), sha512: 'AA==' })
    })
    expect(await findChangedPackages(running.baseUrl, other)).toEqual([
      expect.stringMatching(/^@agent-integration-platform\/sdk \d/),
      expect.stringMatching(/^agent-integration-platform \d/),
    ])
    change(({ npm, python }) => {
      for (const one of npm) Object.assign(one.manifest, { version: '99.0.0' }, { sha512: 'AA==' })
      for (const one of python) Object.assign(one, { version: '99.0.0', file: 'new.whl', sha256: '0'.repeat(64) })
    })
    expect(await findChangedPackages(running.baseUrl, other)).toEqual([])
    await expect(findChangedPackages('http://127.0.0.1:9', other)).rejects.toThrow()
  })
})
