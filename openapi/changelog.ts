import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Guide } from './guides.ts'

/**
 * Reads the repository's changelog as a page of the documentation. Links to other files of the repository become text,
 * because only guides are served.
 */
export const readChangelog = async (): Promise<Guide> => {
  const source = await readFile(join(import.meta.dirname, '../CHANGELOG.md'), 'utf8')
  const markdown = source.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (whole, text: string, to: string) => {
    const [, guide] = /^docs\/guides\/([\w-]+\.md(?:#\S+)?)$/.exec(to) ?? []
    if (guide !== undefined) return `[${text}](${guide})`
    return /^https?:/.test(to) ? whole : text
  })
  return { name: 'changelog', title: 'Changelog', description: 'What changed, version by version.', markdown }
}
