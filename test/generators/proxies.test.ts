import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, it } from 'vitest'
import { scratchFolder } from '#testkit/scratch.ts'
import { type ProxyOptions, PUBLIC_HOST, type StartProxy, worksBehind } from '../e2e/behind-proxy.ts'
import { blocksOf } from '../e2e/guide-blocks.ts'
import { until } from '../e2e/support.ts'

const CADDY = 'github.com/caddyserver/caddy/v2/cmd/caddy@v2.10.2'

const run = promisify(execFile)
const isMissing = (program: string, ...args: string[]) => spawnSync(program, args).error !== undefined

/** Returns a file of the guide, for the addresses, ports and files of the tests. */
const fromGuide = (file: string, which: number, { upstream, folder }: ProxyOptions): string =>
  (blocksOf('tunnel').filter((block) => block.file === file)[which]?.code ?? '')
    .replaceAll('127.0.0.1:3000', new URL(upstream).host)
    .replaceAll(/\b(cert|key)\.pem/g, (name) => path.join(folder, name))

const startProgram = async (program: string, args: string[], { port, folder }: ProxyOptions) => {
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  await until(() => fetch(`https://${PUBLIC_HOST}:${port}/.well-known/jwks.json`).catch(() => undefined))
  return {
    close: () => {
      child.kill()
      return ended
    },
  }
}

const write = ({ folder, tls }: ProxyOptions, name: string, text: string): string => {
  for (const [part, pem] of Object.entries(tls)) writeFileSync(path.join(folder, `${part}.pem`), pem)
  const at = path.join(folder, name)
  writeFileSync(at, text)
  return at
}

const startCaddy =
  (program: () => string): StartProxy =>
  (options) => {
    const { port, prefix, folder } = options
    const own = `bind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`
    const site = fromGuide('Caddyfile', prefix === '' ? 0 : 1, options).replace(
      `${PUBLIC_HOST} {`,
      `https://${PUBLIC_HOST}:${port} {\n\t${own}`,
    )
    const config = write(
      options,
      'Caddyfile',
      `{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n${site}\n`,
    )
    return startProgram(program(), ['run', '--config', config, '--adapter', 'caddyfile'], options)
  }

const startNginx: StartProxy = (options) => {
  const { port, folder } = options
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n')
  const site = fromGuide('nginx.conf', 0, options).replace('listen 443', `listen 127.0.0.1:${port}`)
  const config = write(
    options,
    'nginx.conf',
    `daemon off;\nmaster_process off;\npid ${folder}/nginx.pid;\nerror_log stderr error;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${site}\n}\n`,
  )
  return startProgram('nginx', ['-p', folder, '-e', 'stderr', '-c', config], options)
}

describe('the lines of the guide', () => {
  if (isMissing('go', 'version')) it.skip('work in Caddy (skipped: go isn’t installed)')
  else {
    const place = scratchFolder('caddy-')
    beforeAll(async () => {
      await run('go', ['install', CADDY], { env: { ...process.env, GOBIN: place.folder, GOFLAGS: '-mod=mod' } })
      return place.remove
    })
    const start = startCaddy(() => path.join(place.folder, 'caddy'))
    worksBehind('Caddy', start, '')
    worksBehind('Caddy', start, '/platform')
  }

  if (isMissing('nginx', '-v')) it.skip('work in nginx (skipped: nginx isn’t installed)')
  else worksBehind('nginx', startNginx, '')
})
