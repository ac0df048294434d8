import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { ROOT } from '#local/prepare.ts'
import { digest, packTarball } from '#ops/packages/archives.ts'
import { using } from '#testkit/using.ts'

/** Packages of others that the SDK for TypeScript needs. */
const NAMES = ['openapi-fetch', 'openapi-typescript-helpers']

const read = async (name: string) => {
  const folder = path.join(ROOT, 'node_modules', name)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  const contents = await Promise.all(files.map(async (file) => [path.relative(folder, file), await readFile(file)]))
  const tarball = packTarball(Object.fromEntries(contents))
  const {
    scripts: _,
    devDependencies: __,
    ...manifest
  } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'))
  return { manifest, tarball, integrity: `sha512-${digest('sha512', tarball, 'base64')}` }
}

/**
 * Provides a registry in the place of the public one, with the packages that ours need, from this repository's own. So installing
 * needs no network, and whatever is asked for beyond them isn't found.
 */
export const usingPublicRegistry = () =>
  using(
    async () => {
      const packages = new Map(await Promise.all(NAMES.map(async (name) => [name, await read(name)] as const)))
      const asked: string[] = []
      const server = createServer((request, response) => {
        const [, name = '', ...rest] = (request.url ?? '').split('/')
        asked.push(name)
        const found = packages.get(name)
        if (!found) return void response.writeHead(404).end('{}')
        if (rest.length > 0) return void response.end(found.tarball)
        const { manifest, integrity } = found
        const dist = { tarball: `${url}/${name}/-/${name}-${manifest.version}.tgz`, integrity }
        const packument = {
          name,
          'dist-tags': { latest: manifest.version },
          time: { [manifest.version]: '2020-01-01T00:00:00.000Z' },
          versions: { [manifest.version]: { ...manifest, dist } },
        }
        response.setHeader('content-type', 'application/json').end(JSON.stringify(packument))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return { url, asked, server }
    },
    async ({ server }) => {
      server.closeAllConnections()
      server.close()
    },
  )
