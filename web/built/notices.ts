import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package whose code is part of a bundle. */
export interface BundledPackage {
  name: string
  version: string
  licence: string
  /** Texts of its licence and notice files, which have to be passed on with its code. */
  texts: string[]
}

/** Name of the file that a bundle's notices are in. */
export const NOTICES = 'THIRD-PARTY-NOTICES.txt'

const FOLDER = /^(.*[\\/])?node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/
const TEXTS = /^(licen[cs]e|notice|copying)([.-].*)?$/i

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** Texts of licences for packages that state one and contain no text of it. */
const STANDARD: Readonly<Record<string, (author: string) => string>> = {
  MIT: (author) => `Copyright (c) ${author}\n\n${MIT}`,
  // The repository's own.
  'Apache-2.0': () => readFileSync(join(import.meta.dirname, '../../LICENSE'), 'utf8').trim(),
}

const known = new Map<string, BundledPackage>()

const read = (folder: string): BundledPackage => {
  const found = known.get(folder) ?? readPackage(folder)
  known.set(folder, found)
  return found
}

const readPackage = (folder: string): BundledPackage => {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder)
    .filter((file) => TEXTS.test(file))
    .sort()
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim())
  const standard = STANDARD[license]?.(author?.name ?? author ?? `the authors of ${name}`)
  return { name, version, licence: license ?? '', texts: texts.length > 0 || !standard ? texts : [standard] }
}

/**
 * Finds the packages of a bundle's modules, ordered by name and version.
 *
 * @param modules absolute paths, as bundlers list them
 */
export const packagesOf = (modules: Iterable<string>): BundledPackage[] => {
  // Bundlers mark modules of their own with a null byte or a query.
  const paths = [...modules].map((module) => module.replace(/^\0+|\?.*$/g, ''))
  const folders = new Set(paths.flatMap((path) => FOLDER.exec(path)?.[0] ?? []))
  return [...folders]
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map(read)
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
}

/** Writes the notices of packages. Equal texts, such as those of one vendor's packages, are written once. */
export const noticesOf = (packages: readonly BundledPackage[]): string => {
  const byText = new Map<string, string[]>()
  for (const { name, version, licence, texts } of packages) {
    const text = texts.join('\n\n')
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${licence})`])
  }
  const parts = [...byText].map(
    ([text, names]) => `${names.join('\n')}\n\n${text || 'The package has no text of its licence.'}`,
  )
  const rule = `\n\n${'-'.repeat(80)}\n\n`
  const first =
    packages.length === 0
      ? 'This software contains no code of third parties.'
      : 'This software contains code of these packages, under their own licences.'
  return `${[first, ...parts].join(rule)}\n`
}
