import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#infra/config.ts'
import { OperatorError } from '../command.ts'
import { serviceStackOf, stackOutputs } from '../stage.ts'

/** The fields of a build's table (`packages-files.json`) that the check uses. */
interface Table {
  npm: { manifest: { name: string; version: string }; sha512: string }[]
  python: { name: string; version: string; file: string; sha256: string }[]
}

const read = async (url: string, accept = 'application/json') => {
  const response = await fetch(url, { headers: { accept }, signal: AbortSignal.timeout(10_000) })
  // A stage that has never served the package.
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  // biome-ignore lint/suspicious/noExplicitAny: descriptions of npm and PEP 691
  return (await response.json()) as any
}

/**
 * Lists the packages of a build whose version a platform serves with other bytes.
 *
 * @param folder the built packages
 * @throws if the platform doesn't answer
 */
export const findChangedPackages = async (baseUrl: string, folder: string): Promise<string[]> => {
  const table: Table = JSON.parse(await readFile(join(folder, 'packages-files.json'), 'utf8'))
  const npm = table.npm.map(async ({ manifest: { name, version }, sha512 }) => {
    const served = (await read(`${baseUrl}/packages/npm/${name}`))?.versions[version]
    return served && served.dist.integrity !== `sha512-${sha512}` ? [`${name} ${version}`] : []
  })
  const python = table.python.map(async ({ name, version, file, sha256 }) => {
    const project = await read(`${baseUrl}/packages/simple/${name}/`, 'application/vnd.pypi.simple.v1+json')
    const served = project?.files.find(({ filename }: { filename: string }) => filename === file)
    return served && served.hashes.sha256 !== sha256 ? [`${name} ${version}`] : []
  })
  return (await Promise.all([...npm, ...python])).flat()
}

/**
 * Refuses to deploy changed packages under a version that the stage serves. Stages that keep no data are for trying things, so they may
 * change a version.
 *
 * @param build builds the packages into a folder, and returns it
 * @throws {OperatorError} naming them
 */
export const refuseChangedPackages = async (config: Config, build: () => Promise<string>): Promise<void> => {
  if (!config.retainData) return
  const outputs = await stackOutputs(serviceStackOf(config), ['BaseUrl']).catch(() => undefined)
  // The first deployment.
  if (outputs === undefined) return
  const changed = await findChangedPackages(outputs.BaseUrl, await build()).catch((error: Error) => {
    // A stage that doesn't answer is repaired by a deployment.
    console.log(`warning  The packages that the stage serves can’t be compared: ${error.message}`)
    return []
  })
  if (changed.length > 0) {
    throw new OperatorError(
      `Nothing was deployed. The stage serves ${changed.join(', ')} with other bytes. Raise the version in package.json, ` +
        'package-lock.json and packages/sdk-py/pyproject.toml, or deploy with --skip-preflight.',
    )
  }
}
