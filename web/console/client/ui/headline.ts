import { parseAddress } from '../../../session/text.ts'
import { t } from '../../../ui/messages.ts'

/** A call in a few words: “POST to api.example.com”. */
export const headline = (
  request: { method: string; origin: string } | null | undefined,
  tool: string | null | undefined,
): string =>
  request
    ? t('{method} to {host}', { method: request.method, host: parseAddress(request.origin)?.host ?? request.origin })
    : t('Use {tool}', { tool: tool ?? t('a tool') })
