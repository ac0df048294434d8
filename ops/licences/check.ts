/** Package as the lock file describes it. */
export interface LockedPackage {
  version?: string
  license?: string
  /** Platforms for which this build of a package is. */
  os?: string[]
}

/** Licences that ask for no more than a notice. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
])

/** Tools under other licences. They run in the build or in tests, unchanged, and no part of them is deployed. */
const TOOLS: Readonly<Record<string, string>> = {
  'axe-core': 'MPL-2.0',
  lightningcss: 'MPL-2.0',
}

/** Licences of packages for which the lock file has none. */
const STATED: Readonly<Record<string, string>> = { 'graceful-fs': 'ISC' }

const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Returns the name of the package of which this is a build for one platform. */
const sourceOf = (name: string): string =>
  name.startsWith('@') ? (name.split('/')[0] ?? name) : name.replace(/-(android|darwin|freebsd|linux|win32)-.*$/, '')

/** Returns true if the expression leaves a choice that is allowed, or all of its parts are. */
export const isAllowed = (expression: string): boolean =>
  expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => ALLOWED.has(licence.trim())))

/**
 * Lists the packages of a lock file whose licence is neither allowed nor that of a known tool.
 * @param installed returns the licence that an installed package states
 */
export const findUnlicensed = (
  packages: Readonly<Record<string, LockedPackage>>,
  installed: (path: string) => string | undefined = () => undefined,
): string[] => {
  const dependencies = Object.entries(packages).filter(([path]) => path !== '')
  const licenceOf = ([path, { license }]: (typeof dependencies)[number]) =>
    license ?? installed(path) ?? STATED[nameOf(path)]
  // npm states the licence of the installed build only. All builds of a version come from one source.
  const builds = new Map(
    dependencies.flatMap((one) => {
      const licence = one[1].os && licenceOf(one)
      return licence ? [[`${sourceOf(nameOf(one[0]))} ${one[1].version}`, licence] as const] : []
    }),
  )
  return dependencies.flatMap((one) => {
    const [path, { os, version }] = one
    const name = nameOf(path)
    const licence = licenceOf(one) ?? (os && builds.get(`${sourceOf(name)} ${version}`))
    if (licence !== undefined && (isAllowed(licence) || TOOLS[os ? sourceOf(name) : name] === licence)) return []
    return [`${name} ${version}: ${licence ?? 'states no licence'}`]
  })
}
