/**
 * What people write that examples do not have: long words and names, several scripts and directions, emoji of several code
 * points. Tests of pages use these records, since what fits with three short words tells nothing.
 */

export const longNames = [
  'María de los Ángeles Fernández-Villaverde y Rodríguez de la Fuente',
  'عبد الرحمن بن محمد الفاروقي',
  '山田 花子（プロダクトマネージャー）',
  '👩🏽‍💻 Zoë',
  'Hubert Wolfeschlegelsteinhausenbergerdorff',
] as const

/** The longest word of a name without its signs: what somebody types who looks for the person. */
export const longestWordOf = (name: string) =>
  (name.match(/[\p{L}\p{M}]+/gu) ?? []).reduce((longest, word) =>
    word.length > longest.length ? word : longest,
  )

export const longWorkspaceName = 'Gesellschaft für Ideenvalidierung und Marktforschung mbH'

/** For `createCompany`: the names of its people, which leave the last of `longNames` for one more, and its own. */
export const longCompany = { names: longNames.slice(0, 4), name: longWorkspaceName }

export const longSeeds = [
  {
    title: 'Invoices by voice',
    summary:
      'People who work outside dictate their invoices in the car, on the way to the next customer, so that nothing is ' +
      'forgotten until the evening. The office sees a draft, completes what is missing, and sends it the same day.',
  },
  {
    title: '請求書を音声で入力するアイデア：現場から事務所へその日のうちに下書きを送る仕組み',
    question:
      '音声で入力した請求書の下書きを、来年の春までにすべてのお客様の現場と事務所で使えるようにするべきでしょうか？'.repeat(
        4,
      ),
    decideBy: '2026-01-02',
    successCriteria: [
      '現場で働く人のうち十人中七人が、三か月後も毎日音声で請求書を書いている。'.repeat(3),
      '事務所',
    ],
    summary:
      '外で働く人は、次のお客様へ向かう車の中で請求書を口述します。事務所は下書きを受け取り、不足を補って当日中に送ります。',
  },
  {
    title: 'إدخال الفواتير بالصوت: مسودة تصل إلى المكتب في اليوم نفسه',
    question: 'هل نبني إدخال الفواتير بالصوت لجميع العملاء قبل الربيع أم ننتظر نتائج التجربة الثانية؟'.repeat(
      3,
    ),
    decideBy: '2026-01-02',
    successCriteria: ['يكتب سبعة من كل عشرة عمال فواتيرهم بالصوت كل يوم بعد ثلاثة أشهر (70 %).', 'Ten pay'],
    summary:
      'يملي العاملون في الخارج فواتيرهم في السيارة في الطريق إلى العميل التالي، فلا يُنسى شيء حتى المساء.',
  },
  {
    title: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    successCriteria: ['Averyverylongwordwithoutanyspace'.repeat(9)],
    summary: 'Averyverylongwordwithoutanyspace'.repeat(10),
  },
  {
    title: 'Fewer meetings 🚀👨‍👩‍👧‍👦 for teams of eight and more that work in two or more time zones of the world',
    question: '👨‍👩‍👧‍👦'.repeat(20) + 'Averyverylongwordwithoutanyspace'.repeat(4),
    decideBy: '2026-01-02',
    summary:
      'See https://example.com/a/very/long/path/that/nobody/would/type/but/everybody/pastes?with=a&query=that&goes=on.',
  },
] as const

export const longComments = [
  'Asked **eight** people; seven would. ' +
    'The others want to see it first, on their own invoices. '.repeat(6),
  '現場の人に聞きました。「運転中は声しか使えない」とのことです。',
  'سألنا ثمانية أشخاص، وقال سبعة منهم: نعم.',
  '`' + 'x'.repeat(200) + '` and https://example.com/' + 'y'.repeat(200),
  `| Plan | ${'What it has | '.repeat(10)}\n|-|${'-:|'.repeat(10)}\n| السعر |${' 料金 9,90 € |'.repeat(10)}`,
  '```\n' + 'z'.repeat(200) + '\n```\n\n---\n\n' + '> - '.repeat(12) + 'deep',
] as const
