import { visible } from '../../../session/text.ts'
import { t } from '../../../ui/messages.ts'
import type { Exact } from './exact-json.ts'

/** A JSON value as nested tables, in full and with invisible characters escaped. */
export const Tree = ({ value }: { value: Exact }) => {
  if (value.kind === 'text') return <span class="exact">{visible(value.text) || <i class="soft">{t('empty')}</i>}</span>
  if (value.kind === 'plain') return <code>{value.text}</code>
  const parts =
    value.kind === 'list' ? value.items.map((item, i) => ({ name: String(i + 1), value: item })) : value.entries
  if (parts.length === 0) return <span class="soft">{value.kind === 'list' ? t('Empty list') : t('Empty')}</span>
  return (
    <dl class="tree">
      {parts.map((part, i) => (
        <div key={i} class={part.value.kind === 'text' || part.value.kind === 'plain' ? undefined : 'deep'}>
          <dt>{visible(part.name)}</dt>
          <dd>
            <Tree value={part.value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
