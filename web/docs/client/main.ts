// Optional enhancements of the documentation, which is readable without JavaScript.
import { followAppearance } from '../../theme/appearance.ts'
import { addCopyButtons } from './copy.ts'
import { addFeedback } from './feedback.ts'
import { addSearch } from './search.ts'
import { addStatus } from './status.ts'
import { addTabs } from './tabs.ts'

const root = document.body.dataset.root ?? ''

followAppearance()
addTabs()
addCopyButtons()
addSearch(root)
addStatus(root)
addFeedback(root)
