import * as z from 'zod'
import { SETTINGS_GROUPS, Settings, type SettingsGroup, type Told } from '../settings.ts'

/** A setting as people are told of it. */
export type Listed = Told & { name: string; value: string; default: string }

const titles: Record<SettingsGroup, string> = {
  address: 'Address',
  rollout: 'Rollout',
  traffic: 'Traffic',
  watching: 'Alarms, logs, metrics',
  data: 'Data',
  providers: 'Telegram and the language model',
  protocol: 'Protocol',
  development: 'Development and emulators',
}

/** Every setting in its declaration's order: what it takes, its default, what it does and costs. */
export const listSettings = (): Listed[] =>
  Object.entries(Settings.shape).map(([name, schema]) => ({
    ...(schema.meta() as Told),
    name,
    value: takenBy(schema),
    default: schema instanceof z.ZodDefault ? written(schema.def.defaultValue) : '–',
  }))

/** What the innermost schema says that it takes. */
function takenBy(schema: z.ZodType): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return takenBy(schema.unwrap() as z.ZodType)
  return String(schema.meta()?.value ?? 'text')
}

const written = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value)

const grouped = (): [title: string, settings: Listed[]][] =>
  SETTINGS_GROUPS.map((group) => [titles[group], listSettings().filter((one) => one.group === group)])

/** For a terminal. */
export const settingsText = (): string =>
  grouped()
    .map(([title, settings]) => {
      const blocks = settings.map(({ name, value, default: byDefault, description, cost }) =>
        [
          `  ${name}  (${value}; default ${byDefault})`,
          `      ${description}`,
          ...(cost === undefined ? [] : [`      Costs: ${cost}.`]),
        ].join('\n'),
      )
      return [title, ...blocks].join('\n')
    })
    .join('\n\n')

/** For docs/deploy.md: a table for each group. */
const settingsMarkdown = (): string =>
  grouped()
    .map(([title, settings]) => {
      const rows = settings.map(({ name, value, default: byDefault, description, cost = '–' }) =>
        [`\`${name}\``, value, byDefault === '–' ? '–' : `\`${byDefault}\``, description, cost].map((cell) =>
          cell.replaceAll('|', '\\|'),
        ),
      )
      return [
        `### ${title}`,
        '',
        '| setting | takes | default | what it does | what it costs |',
        '| --- | --- | --- | --- | --- |',
        ...rows.map((cells) => `| ${cells.join(' | ')} |`),
      ].join('\n')
    })
    .join('\n\n')

const BEGIN = '<!-- settings -->'
const END = '<!-- /settings -->'

/** The document with the tables between its two marks. */
export const withSettings = (document: string): string =>
  `${document.slice(0, document.indexOf(BEGIN))}${BEGIN}\n\n${settingsMarkdown()}\n\n${document.slice(document.indexOf(END))}`
