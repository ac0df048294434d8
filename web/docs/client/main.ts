// Optional enhancements of the documentation, which is readable without JavaScript.
import { followAppearance } from '../../theme/appearance.ts'
import { addCopyButtons } from './copy.ts'
import { addFeedback } from './feedback.ts'
import { addSearch } from './search.ts'
import { addStatus } from './status.ts'
import { addTabs } from './tabs.ts'

const root = document.body.dataset.root ?? ''

// The reference used to be at /docs. Redirects old links to its parts, such as #tag/webhooks.
const leadOn = () => {
  const part = location.hash.slice(1)
  const moved = part === 'reference' || /^(tag|models?|description|webhook)\b/.test(part)
  if (moved && document.getElementById(part) === null)
    location.replace(`${root}docs/reference${part === 'reference' ? '' : `#${part}`}`)
}
window.addEventListener('hashchange', leadOn)
leadOn()

followAppearance()
addTabs()
addCopyButtons()
addSearch(root)
addStatus(root)
addFeedback(root)
