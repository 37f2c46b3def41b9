//! Prompts and their titles.

pub(super) const ROWS: &[(&[&str], &str)] = &[
    (
        &[
            "ultrathink @a.md the page stays blank, with these logs: starting\n(index):1 language: en",
        ],
        "@a.md the page stays blank, with these logs: starting (index):1…",
    ),
    (
        &[
            "It still crashes \"13:04:02.906 Navigated to https://example.com/x\n13:04:03.441 Blocked: no policy",
        ],
        "It still crashes \"13:04:02.906 Navigated to https://example.com/x",
    ),
    (
        &[
            "### 引き継ぎ\n\n- 目的: 旧サーバを廃止して新しい経路で運用する。デプロイ保護が有効な\n場合はバイパスで確認。",
        ],
        "目的: 旧サーバを廃止して新しい経路で運用する",
    ),
    (
        &["GET https://example.com/a/long/path/of/a/request/that/has/no/end?x=1&y=2&z=3"],
        "GET https://example.com/a/long/path/of/a/request/that/has/no/end?x=1&y=…",
    ),
    (
        &[
            "kononakani,deeta,wo,irete",
            "the second prompt is about maps",
        ],
        "Kononakani,deeta,wo,irete",
    ),
    (
        &["Let's continue debugging the desktop app\nIt says ready but then stops"],
        "Let's continue debugging the desktop app It says ready but then stops",
    ),
    (
        &["fix this\n\n```\nTypeError: x is undefined\n  at a.js:3\n```"],
        "Fix this: TypeError: x is undefined",
    ),
    (
        &["plz fix\n\nThe server returned a page in place of the list"],
        "Plz fix: The server returned a page in place of the list",
    ),
    (
        &[
            "<context ref=\"notes.md\">\nBuy milk and bread for the week.\n</context>\nSort this list by price",
        ],
        "Sort this list by price",
    ),
    (
        &[
            "You are a reviewer who compares the totals of two invoices of one customer.\nAlways answer in German.",
        ],
        "You are a reviewer who compares the totals of two invoices…",
    ),
    (
        &["[[ ## user_query ## ]]\n\nReply with the exact marker"],
        "Reply with the exact marker",
    ),
    (
        &["can you please add a dark mode to the settings page?"],
        "Can you please add a dark mode to the settings page?",
    ),
    (
        &["hi", "ok", "Port the parser to Rust"],
        "Port the parser to Rust",
    ),
    (
        &["Context: monorepo\n\nProblem: the build emits no types\n\nExpected: types"],
        "The build emits no types",
    ),
    (
        &["You are Ada, a QA engineer.\nWrite tests for the refund flow."],
        "Write tests for the refund flow",
    ),
    (
        &["ERROR in a.ts 12:5\n\nHow do I resolve the missing module?"],
        "How do I resolve the missing module?",
    ),
    (&["谢谢，再加上单元测试"], "再加上单元测试"),
    (
        &["Merci ! Maintenant, ajoute la pagination"],
        "Maintenant, ajoute la pagination",
    ),
    (
        &["how does the scheduler work?"],
        "How does the scheduler work?",
    ),
    (
        &["we also have merge conflix"],
        "We also have merge conflix",
    ),
    (
        &["Implement the following plan:\n\n# AB-12: Cache Session Titles On Disk (#9)\n\n## Why"],
        "AB-12: Cache Session Titles On Disk (#9)",
    ),
    (
        &["when running npm test I get timeouts, can you check?"],
        "When running npm test I get timeouts, can you check?",
    ),
    (
        &["mise run lint is showing errors, can you take a look?"],
        "Mise run lint is showing errors, can you take a look?",
    ),
    (
        &["I'm using the new agent code (added in the last release) and it hangs"],
        "I'm using the new agent code (added in the last release) and it hangs",
    ),
    (
        &["Here's the error screenshot"],
        "Here's the error screenshot",
    ),
    (
        &["I've noticed that each command I run (e.g., `help`) is slow"],
        "I've noticed that each command I run (e.g., help) is slow",
    ),
    (
        &[
            "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nlist the files\n",
        ],
        "List the files",
    ),
    (
        &["this is PR https://github.com/o/r/pull/7\n\nLet's review this together"],
        "This is PR https://github.com/o/r/pull/7",
    ),
    (&["/clear", "/review 12"], "/review 12"),
    (
        &["/compact keep the names of the tests", "hello"],
        "/compact keep the names of the tests",
    ),
    (
        &["/workflows:plan add retries to the upload queue"],
        "/workflows:plan add retries to the upload queue",
    ),
    (
        &["I just got a new machine. Can you install git and homebrew for me?"],
        "I just got a new machine. Can you install git and homebrew for me?",
    ),
    (
        &["We get this error:\n```\nCannot find name process\n```\nHow can I solve it?"],
        "We get this error: Cannot find name process",
    ),
    (
        &["@app @README.md\n\nHelp me with the console output"],
        "Help me with the console output",
    ),
    (
        &["```\nTo add support for dates, extend both classes.\n```"],
        "To add support for dates, extend both classes",
    ),
    (&["请帮我修复登录按钮，谢谢"], "请帮我修复登录按钮，谢谢"),
    (
        &["こんにちは、設定画面を直してください"],
        "設定画面を直してください",
    ),
    (&["yes", "1. the second one", "go ahead"], "The second one"),
    (&["Start", "Step 1", "Step 2", "next phase"], "Start"),
    (&["[left out of this copy]"], ""),
    (
        &["for the change in src/cli/hooks.go I think if we fail to open it we should stop"],
        "For the change in src/cli/hooks.go I think if we fail to open…",
    ),
    (
        &["Can you read docs/design/suffixes.md, I'd like to modify this approach: no suffixes"],
        "Can you read docs/design/suffixes.md, I'd like to modify this approach…",
    ),
    (
        &[
            "This fails:\n```\nTraceback\n```\n2026-01-01 12:00 ERROR x\n> quoted words here\n  at main.js\nplease fix the importer",
        ],
        "Please fix the importer",
    ),
    (
        &["@src/net.rs @src/lib.rs why does the retry loop never end?"],
        "@src/net.rs @src/lib.rs why does the retry loop never end?",
    ),
    (
        &["me@host:~/app$ npm test\n> vitest\nThe snapshot test of the header fails"],
        "The snapshot test of the header fails",
    ),
    (
        &["[INFO] start\n[ERROR] Cannot find module left-pad"],
        "[ERROR] Cannot find module left-pad",
    ),
    (
        &["Please start task 2. There is no need to stop"],
        "Please start task 2. There is no need to stop",
    ),
    (
        &[
            "Create a new git branch off the current one that's focused on adding tests for the viewer",
        ],
        "Create a new git branch off the current one that's focused on adding…",
    ),
    (
        &["升级当前项目的tailwindcss使用官方迁移脚本"],
        "升级当前项目的tailwindcss使用官方迁移脚本",
    ),
    // Greetings, courtesies and roles.
    (
        &["Hi Claude! Hope you're well. Could you please figure out why the docker build is slow?"],
        "Could you please figure out why the docker build is slow?",
    ),
    (
        &["You are a senior Rust engineer. Review src/net/pool.rs for deadlocks."],
        "Review src/net/pool.rs for deadlocks",
    ),
    (
        &["Act as a reviewer and write a Dockerfile"],
        "Act as a reviewer and write a Dockerfile",
    ),
    (
        &["あなたは優秀なエンジニアです。登録APIの検証を実装してください"],
        "登録APIの検証を実装してください",
    ),
    (
        &["Ты опытный разработчик Go. Напиши тесты для пакета storage"],
        "Напиши тесты для пакета storage",
    ),
    (
        &["Guten Morgen!", "Repariere den Zähler"],
        "Repariere den Zähler",
    ),
    (
        &["Dear assistant,\n\nplease rewrite the onboarding email"],
        "Please rewrite the onboarding email",
    ),
    (
        &["初めまして。フォームに検証を追加したいです。"],
        "フォームに検証を追加したいです",
    ),
    (
        &["As an AI pair programmer, you should be brief.\n\nAdd pagination to the list"],
        "Add pagination to the list",
    ),
    (
        &["Bug report\n==========\n\nThe export button does nothing in Safari"],
        "The export button does nothing in Safari",
    ),
    (
        &["Continue from where you left off", "Generate the changelog"],
        "Continue from where you left off",
    ),
    (
        &[
            "テーブルの列幅をドラッグで変更できるようにして、変更後の幅をローカルストレージに保存し、再読み込み時に復元するようにしてください",
        ],
        "…再読み込み時に復元するようにしてください",
    ),
    (&["مرحبا"], ""),
    (&["继续"], "继续"),
    // Introductions and fillers.
    (
        &[
            "안녕하세요! 저는 백엔드 개발자입니다. 결제 완료 후 웹훅이 두 번 호출되는 원인을 찾아 주세요",
        ],
        "결제 완료 후 웹훅이 두 번 호출되는 원인을 찾아 주세요",
    ),
    (
        &["我是一名刚入门的前端开发，想请你给登录表单加上验证"],
        "我是一名刚入门的前端开发，想请你给登录表单加上验证",
    ),
    (
        &[
            "Ich bin gerade dabei, unser Ticketsystem abzulösen. Anhänge gehen beim Import verloren.",
        ],
        "Anhänge gehen beim Import verloren",
    ),
    (
        &["我是后端开发，负责订单服务。请把库存扣减改成脚本实现"],
        "请把库存扣减改成脚本实现",
    ),
    (
        &["Je suis en train de migrer le site. Les traductions ne se chargent plus."],
        "Les traductions ne se chargent plus",
    ),
    (
        &["Ich bin Entwickler bei der Bahn. Baue den Export auf Streams um."],
        "Baue den Export auf Streams um",
    ),
    (
        &["I'm a Node.js developer, port the upload queue to Rust"],
        "I'm a Node.js developer, port the upload queue to Rust",
    ),
    (
        &["Je suis développeuse backend. La page de paiement plante."],
        "La page de paiement plante",
    ),
    (
        &["Soy ingeniera de datos. Corrige la consulta de ventas."],
        "Corrige la consulta de ventas",
    ),
    (
        &["Я начинающий разработчик, добавь тесты для парсера"],
        "Я начинающий разработчик, добавь тесты для парсера",
    ),
    (
        &["все нормально. теперь нужно проверить логику платежной системы"],
        "Все нормально. теперь нужно проверить логику платежной системы",
    ),
    (
        &["крч тема такая, кнопка оплаты не работает на iOS"],
        "Крч тема такая, кнопка оплаты не работает на iOS",
    ),
    (
        &["Подскажите, пожалуйста, как отключить кэш в nginx"],
        "Подскажите, пожалуйста, как отключить кэш в nginx",
    ),
    // Tags, headings and lists.
    (
        &["- [ ] rotate the logs of the worker\n- [x] done already"],
        "Rotate the logs of the worker",
    ),
    (
        &["Delete all *.tmp files under build/*"],
        "Delete all *.tmp files under build/*",
    ),
    (
        &["<context>\nWe use Playwright.\n</context>\n<task>\nFix the flaky login test\n</task>"],
        "Fix the flaky login test",
    ),
    (
        &["# Task\n\n## Context\nWe use React 18.\n\n## Goal\nMigrate the router to v7."],
        "Migrate the router to v7",
    ),
    (
        &[
            "### Steps to reproduce\n\n1. Set the language\n2. Sign in\n\n### Outcome\n\nThere is no link on the page.",
        ],
        "There is no link on the page",
    ),
    (
        &["## タスク設定画面の日本語入力ができない\n\n- 半角英語数字での入力は可能"],
        "タスク設定画面の日本語入力ができない",
    ),
    (
        &[
            "[BE] feat: 로그인 에러 핸들링 추가\n\n## Issue\n\n- close #285\n\n## 구현한 기능\n\n- 추가",
        ],
        "[BE] feat: 로그인 에러 핸들링 추가",
    ),
    (
        &["日本語訳して\n\n# Codex App Server\n\nEmbed Codex into your product"],
        "日本語訳して",
    ),
    (
        &["Please do the following:\n1. Rename User to Account\n2. Update the migrations"],
        "Please do the following",
    ),
    (
        &[
            "# Cache for the session index\n\n1. Read the old code of the index\n\n2. Implement a cache for the parsed rows",
        ],
        "Cache for the session index",
    ),
    (
        &[
            "1. The importer stops at the first empty row\n\n4. Run `npm run build` in the folder web and check",
        ],
        "The importer stops at the first empty row",
    ),
    (
        &["\"You are a senior reviewer. Check the retry loop of the client for races.\""],
        "Check the retry loop of the client for races",
    ),
    (
        &["请解释这段日志：```TEXT\nERROR boom\n```\n谢谢"],
        "请解释这段日志",
    ),
    (
        &["```TEXT\nERROR boom\n```请解释上面的日志是什么意思"],
        "请解释上面的日志是什么意思",
    ),
    (
        &["```npm run build``` fails on the new machine"],
        "Npm run build fails on the new machine",
    ),
    (
        &["Low Severity\n\nThe error of the loader is wrapped with the name of the file twice"],
        "Low Severity The error of the loader is wrapped with the name…",
    ),
    // Instructions about how to work come last, and also roles with names.
    (
        &["Before you start: read CONTRIBUTING.md.\n\nThe task: split the billing crate in two."],
        "Split the billing crate in two",
    ),
    (
        &["Important: do not commit anything.\n\nUpgrade axum to 0.7 in the gateway"],
        "Upgrade axum to 0.7 in the gateway",
    ),
    (
        &["Don't show the banner on small screens. It covers the menu."],
        "Don't show the banner on small screens. It covers the menu",
    ),
    (
        &["You are Marta, a staff SRE, and your task is to write a failover runbook."],
        "You are Marta, a staff SRE, and your task is to write a failover…",
    ),
    (
        &["You are Rex. You value brevity. Review the diff on this branch."],
        "Review the diff on this branch",
    ),
    (
        &[
            "Rules for this session:\n1. Never push\n2. Ask first\n\nFirst task: speed up the importer.",
        ],
        "Speed up the importer",
    ),
    (
        &["Bevor du anfängst: lies AGENTS.md. Danach baue den Export auf Streams um."],
        "Danach baue den Export auf Streams um",
    ),
    (
        &["Ты — Анна, старший разработчик. Твоя задача: переписать таблицу заказов."],
        "Твоя задача: переписать таблицу заказов",
    ),
    (
        &["开始之前请先阅读 规范.md。然后把用户列表改成虚拟滚动。"],
        "然后把用户列表改成虚拟滚动",
    ),
    (
        &[
            "以下のルールに従ってください。\n- コメントは日本語\n\nCSV出力に条件を反映させてください。",
        ],
        "CSV出力に条件を反映させてください",
    ),
    (
        &["Ändere nichts am Code, sondern erstelle eine Liste aller Stellen mit Passwörtern."],
        "Ändere nichts am Code, sondern erstelle eine Liste aller Stellen…",
    ),
    (
        &["Para empezar, mira la carpeta infra. Luego crea un pipeline para staging."],
        "Para empezar, mira la carpeta infra. Luego crea un pipeline para…",
    ),
    (
        &["I need you to be extra careful, this is production. Add retries to the charge job."],
        "Add retries to the charge job",
    ),
    (
        &["Your role: API designer.\nYour job: propose a versioning scheme."],
        "Propose a versioning scheme",
    ),
    (
        &["I pasted the log below. Tell me which request is slow."],
        "I pasted the log below. Tell me which request is slow",
    ),
    // Pasted text and forms.
    (
        &[
            "System: Linux 6.8, Python 3.12\nModel: llama-3-8b\n\nTraining diverges after 900 steps with bf16.",
        ],
        "Training diverges after 900 steps with bf16",
    ),
    (
        &[
            "java -jar app-*.jar --spring.profiles.active=test    \nError: Unable to access jarfile app-*.jar 报错呢？",
        ],
        "Java -jar app-*.jar --spring.profiles.active=test",
    ),
    (
        &["gcc: error: unrecognized option '-mx'\n\nwhy is the compiler of the host used?"],
        "Why is the compiler of the host used?",
    ),
    (
        &[
            "docker compose up fails with\n\nERROR: for db  Cannot start service\n\nwhat's using the port?",
        ],
        "Docker compose up fails with",
    ),
    (
        &[
            "thread 'main' panicked at src/a.rs:5:3:\ncalled `unwrap()`\n\nhandle a missing HOME gracefully",
        ],
        "Handle a missing HOME gracefully",
    ),
    (
        &[
            "TypeError: x is undefined\n    at Table.render (a.jsx:4:1)\n\nwhy only after logging out?",
        ],
        "Why only after logging out?",
    ),
    (
        &[
            "ActiveRecord::RecordNotFound: Couldn't find Order\n\nD'où vient cet id quand on valide le panier ?",
        ],
        "D'où vient cet id quand on valide le panier ?",
    ),
    (
        &[
            "$ kubectl get pods\nNAME    READY   STATUS\napi-0   0/1     Error\n\nwhat's going on with api-0?",
        ],
        "What's going on with api-0?",
    ),
    (
        &[
            "Fehlermeldung beim Start:\n\njava.lang.LinkageError: x\n\nWas muss ich an der Umgebung ändern?",
        ],
        "Was muss ich an der Umgebung ändern?",
    ),
    (
        &[
            "**Describe the bug**\nThe CSV is empty.\n\n**To Reproduce**\n1. Open reports\n\n**Expected**\nRows",
        ],
        "The CSV is empty",
    ),
    (
        &[
            "Ticket: PAY-2231\nReporter: dana\nSummary: Refund emails show the wrong currency\nNotes: only JPY",
        ],
        "Refund emails show the wrong currency",
    ),
    // A verb at the end is kept.
    (
        &[
            "サイドバーで、一度 [クリア] をクリックすると、その後で [再接続] をクリックしてもログが表示されない障害を修正して",
        ],
        "…その後で [再接続] をクリックしてもログが表示されない障害を修正して",
    ),
    (
        &[
            "README에 설치 방법을 추가하고, 예제 코드를 최신 버전에 맞게 수정한 다음, 라이선스 섹션도 정리해 주세요",
        ],
        "…예제 코드를 최신 버전에 맞게 수정한 다음, 라이선스 섹션도 정리해 주세요",
    ),
    (
        &[
            "请把这个项目从 JavaScript 迁移到 TypeScript，并且保持现有测试通过，同时更新构建脚本和持续集成配置",
        ],
        "请把这个项目从 JavaScript 迁移到 TypeScript，并且保持现有测试通过，同时…",
    ),
    (&[], ""),
    (&["<system-reminder>add x to y</system-reminder>"], ""),
    (
        &["https://example.com/a/b", "~/src/app"],
        "https://example.com/a/b",
    ),
    (
        &["Add a key sk-ant-a1B2c3D4e5 to the tests"],
        "Add a key sk-ant-[redacted] to the tests",
    ),
    // What the user wants may follow, and sections and paragraphs about something else may precede it.
    (
        &[
            "hey there! hope ur doing well :)\n\nso i have this django app and since yesterday the celery workers stop picking up tasks after about 2 hrs. can u look into why and fix it pls",
        ],
        "So i have this django app and since yesterday the celery workers stop…",
    ),
    (
        &[
            "I'm working on a small CLI for our data team. It reads parquet files and writes summaries into Postgres. Everything works on my machine, but in the container we run out of memory for files above 2 GB.\n\nWhat would you change so that it streams row groups instead of loading whole files?",
        ],
        "I'm working on a small CLI for our data team. It reads parquet files…",
    ),
    (
        &[
            "Title: Pagination broken on /orders\nPriority: High\nReporter: Maria\nEnvironment: staging\n\nDescription:\nWhen you go to page 2 and change the sort order, the list is empty until you reload.\n\nSteps to reproduce:\n1. open /orders\n2. click \"2\"\n3. click on \"Date\"\n\nPlease fix and add a regression test.",
        ],
        "Pagination broken on /orders",
    ),
    (
        &[
            "Hi Claude,\n\nmy name is Jonas and I am a PhD student in hydrology. I am not a programmer so please explain things simply.\n\nI have a Python script that interpolates rainfall between stations (attached as interp.py). It takes 40 minutes for one year of data. Could you make it faster?",
        ],
        "I have a Python script that interpolates rainfall between stations…",
    ),
    (
        &[
            "Imagine you're a staff SRE at a bank. We're going to do a blameless postmortem together. First, summarise what happened in incident.md, and then list the five most useful follow-ups.",
        ],
        "We're going to do a blameless postmortem together. First, summarise…",
    ),
    (
        &["No, don't delete the cache. Explain how the invalidation works first."],
        "Explain how the invalidation works first",
    ),
    (
        &[
            "Everything in this repo is MIT licensed. The code is written in Zig 0.14. Build with `zig build`. Tests are run with `zig build test`.\n\nPort the tokenizer benchmark from C (bench/tok.c) to Zig.",
        ],
        "Port the tokenizer benchmark from C (bench/tok.c) to Zig",
    ),
    (
        &[
            "Hallo Claude,\n\nich hoffe, es geht dir gut. Ich arbeite seit zwei Wochen an einem Plugin für Nextcloud. Leider werden seit dem Update auf Version 30 keine Vorschaubilder mehr erzeugt. Woran kann das liegen?",
        ],
        "Ich arbeite seit zwei Wochen an einem Plugin für Nextcloud. Leider…",
    ),
    (
        &[
            "C'est parfait merci. Par contre le bouton « Envoyer » reste désactivé après une erreur réseau, il faut recharger la page. Corrige ça stp",
        ],
        "C'est parfait merci. Par contre le bouton « Envoyer » reste désactivé…",
    ),
    (
        &[
            "$ kubectl get pods -n payments\nNAME                       READY   STATUS             RESTARTS   AGE\nledger-7d9f5c6b8-abcde     0/1     CrashLoopBackOff   12         31m\n\npod keeps crashing since i merged the config map change, logs are empty. help",
        ],
        "Pod keeps crashing since i merged the config map change, logs are empty",
    ),
    (
        &[
            "Role: You are an expert accessibility auditor.\nGoal: Make the signup form pass WCAG 2.2 AA.\nRules: minimal diff, no new CSS framework, explain each change.",
        ],
        "Make the signup form pass WCAG 2.2 AA",
    ),
    (
        &[
            "ok so\n\nnpm run build fails on ci but not local. node 20 both\n\n```\n> web@0.3.1 build\n> vite build\n✓ 312 modules transformed.\nx Build failed in 3.21s\nerror during build:\nRollupError: Could not resolve \"./Header\" from \"src/App.tsx\"\n```",
        ],
        "Npm run build fails on ci but not local. node 20 both",
    ),
    (
        &[
            "I just inherited this codebase from a contractor.\n\nIt's a Rails 5 monolith. There are no tests. Production runs on a single Heroku dyno.\n\nFirst thing I want: a list of all background jobs with their schedule and what they touch.",
        ],
        "I just inherited this codebase from a contractor. It's a Rails…",
    ),
    (
        &[
            "You are an expert in PostgreSQL performance tuning.\nYou have deep knowledge of query planners.\nYou always explain trade-offs.\n\nHere is the query plan:\n\nSeq Scan on orders  (cost=0.00..43210.00 rows=12 width=244) (actual time=0.040..901.2 rows=9 loops=1)\n  Filter: ((status)::text = 'open'::text)\n  Rows Removed by Filter: 2000000\nPlanning Time: 0.1 ms\nExecution Time: 901.4 ms\n\nWhich index would you add and why?",
        ],
        "Which index would you add and why?",
    ),
    (
        &[
            "The tests pass. The linter passes. The build is green. And yet the deployed page is blank. Help me find out why.",
        ],
        "The tests pass. The linter passes. The build is green. And…",
    ),
    (
        &[
            "I tried `git rebase -i main` and now I'm in a detached HEAD with conflicts in 14 files. How do I get back to where I was this morning?",
        ],
        "I tried git rebase -i main and now I'm in a detached HEAD with…",
    ),
    (
        &[
            "Context: Android app, Kotlin, min SDK 26. Problem: notification taps open a blank activity when the app was killed. Please fix.",
        ],
        "Problem: notification taps open a blank activity when the…",
    ),
    (
        &[
            "大家好，我这边有一个 Python 爬虫，最近目标网站改版了。\n\n价格字段解析不出来，返回的都是 None。帮忙改一下解析逻辑。",
        ],
        "我这边有一个 Python 爬虫，最近目标网站改版了。价格字段解析不出来，返回…",
    ),
    (
        &[
            "Ich habe keine Ahnung von Webpack. Das Projekt lädt im Dev-Modus 40 MB JavaScript, und mein Laptop wird heiß. Wie kann ich das reduzieren?",
        ],
        "Ich habe keine Ahnung von Webpack. Das Projekt lädt im Dev-Modus…",
    ),
    (
        &[
            "저는 스타트업에서 혼자 개발하고 있습니다. 이미지 업로드가 느려서 S3 presigned URL 방식으로 바꾸고 싶은데 코드를 수정해 주세요.",
        ],
        "…느려서 S3 presigned URL 방식으로 바꾸고 싶은데 코드를 수정해 주세요",
    ),
    (
        &[
            "はじめまして。フリーランスのエンジニアです。\n\nPDF出力機能で、表が2ページにまたがると2ページ目のヘッダー行が消えてしまいます。原因を調査して修正していただけますか？",
        ],
        "…表が2ページにまたがると2ページ目のヘッダー行が消えてしまいます",
    ),
    (
        &[
            "Last time you suggested a mutex. That was wrong, it deadlocks under load. Think again about how to serialise writes to the index file.",
        ],
        "Last time you suggested a mutex. That was wrong, it deadlocks under…",
    ),
    (
        &[
            "The following test is flaky:\n\ntest('debounce', async () => {\n  const fn = vi.fn();\n  const d = debounce(fn, 10);\n  d(); d();\n  await sleep(11);\n  expect(fn).toHaveBeenCalledTimes(1);\n});\n\nRewrite it with fake timers.",
        ],
        "Rewrite it with fake timers",
    ),
    (
        &[
            "Ich möchte, dass du als Code-Reviewer agierst. Prüfe nur die Fehlerbehandlung in src/import.",
        ],
        "Prüfe nur die Fehlerbehandlung in src/import",
    ),
    (
        &[
            "El proyecto usa Next.js 14 con App Router. Las imágenes remotas devuelven 400. Arréglalo.",
        ],
        "El proyecto usa Next.js 14 con App Router. Las imágenes remotas…",
    ),
    (
        &[
            "这段代码是前同事写的，没有注释。\n\ndef f(x, n):\n    return [x[i:i+n] for i in range(0, len(x), n)]\n\n给它起个好名字，加上类型标注和文档",
        ],
        "这段代码是前同事写的，没有注释",
    ),
    (
        &[
            "お世話になっております。\n\n先日追加していただいたグラフについて、凡例が日本語のとき文字が重なります。凡例の位置を下に変えてください。",
        ],
        "…凡例が日本語のとき文字が重なります",
    ),
    (
        &[
            "이 저장소는 Spring Boot 3 기반의 쇼핑몰 백엔드입니다.\n\n주문 취소 시 재고가 복구되지 않는 문제를 찾아서 수정해줘.",
        ],
        "주문 취소 시 재고가 복구되지 않는 문제를 찾아서 수정해줘",
    ),
    (
        &["빌드가 너무 오래 걸려. 어디서 시간이 많이 걸리는지 프로파일링하고 개선안을 제시해 줘."],
        "어디서 시간이 많이 걸리는지 프로파일링하고 개선안을 제시해 줘",
    ),
    (
        &[
            "ive got a react native app. android build works. ios build dies with 'Undefined symbols for architecture arm64'. no idea what to do",
        ],
        "Ive got a react native app. android build works. ios build dies with…",
    ),
    (
        &[
            "Please take on the persona of a grumpy but brilliant compiler engineer. Explain SSA form.",
        ],
        "Explain SSA form",
    ),
    (
        &[
            "Voici le fichier de configuration de notre proxy. Il redirige tout vers HTTPS, même les webhooks internes. Exclus /internal de la redirection.",
        ],
        "Voici le fichier de configuration de notre proxy. Il redirige tout vers…",
    ),
    (
        &["现在的代码把所有配置都写死在 main.go 里。改成从 YAML 文件读取，支持环境变量覆盖。"],
        "现在的代码把所有配置都写死在 main.go 里。改成从 YAML 文件读取，支持环境…",
    ),
    (
        &[
            "background: our mobile team ships every two weeks. the api team ships daily. last friday the api removed a field that v3.1 of the app still needs.\n\nbuild a contract check into the api pipeline that compares the openapi spec with the two latest app releases",
        ],
        "The api team ships daily. last friday the api removed a field that v3.1…",
    ),
    (
        &[
            "I have been using your tool for three months now and I love it. Today is the first time something went wrong. After an update the history command shows sessions from other projects. How do I filter them?",
        ],
        "I have been using your tool for three months now and I love it. Today…",
    ),
    (
        &[
            "Oye, ¿me ayudas? La app de escritorio (Electron) tarda 15 segundos en abrirse. Quiero que baje a menos de 5.",
        ],
        "Oye, ¿me ayudas? La app de escritorio (Electron) tarda 15 segundos…",
    ),
    (
        &[
            "あなたはUXデザイナーです。以下の要件に従ってください。\n\n- 色覚多様性に配慮する\n- モバイルファースト\n\n会員登録フォームの改善案を3つ出してください。",
        ],
        "会員登録フォームの改善案を3つ出してください",
    ),
    (
        &[
            "I would like to thank you for yesterday, the release went fine. There is one leftover: the download page still links to 1.8. Update it to 1.9.",
        ],
        "There is one leftover: the download page still links to 1.8. Update…",
    ),
    (
        &[
            "Bitte antworte auf Deutsch. Wie funktioniert das Berechtigungssystem in diesem Projekt?",
        ],
        "Wie funktioniert das Berechtigungssystem in diesem Projekt?",
    ),
    (
        &[
            "Je travaille sur un jeu en Godot 4. Le personnage traverse le sol quand il tombe trop vite. Que puis-je faire ?",
        ],
        "Je travaille sur un jeu en Godot 4. Le personnage traverse le sol quand…",
    ),
    // A role and its standing instructions are not the task, and neither is a part of a template.
    (
        &["Sen deneyimli bir ağ uzmanısın. Yönlendirme tablosunu IPv6 için yeniden düzenle."],
        "Yönlendirme tablosunu IPv6 için yeniden düzenle",
    ),
    (
        &["Sei un esperto di reti. Riordina la tabella di instradamento per IPv6."],
        "Riordina la tabella di instradamento per IPv6",
    ),
    (
        &["Je bent een netwerkbeheerder. Herschrijf de routetabel voor het kantoor."],
        "Herschrijf de routetabel voor het kantoor",
    ),
    (
        &[
            "You are a Zig developer. When writing Zig code, follow the guide. Port the tokenizer to the new allocator.",
        ],
        "Port the tokenizer to the new allocator",
    ),
    (
        &[
            "Du bist Datenbankexperte. Wenn du SQL schreibst, halte dich an ANSI. Die Abfrage der Rechnungen dauert zehn Sekunden.",
        ],
        "Die Abfrage der Rechnungen dauert zehn Sekunden",
    ),
    (
        &["When saving a draft the page is blank. Nothing is in the log."],
        "When saving a draft the page is blank. Nothing is in the log",
    ),
    (
        &[
            "Write the design document of the loader.\n# Two-Step Load\n[title]: #title\n# Summary\n[summary]: #summary\nOne paragraph of the proposal.",
        ],
        "Write the design document of the loader",
    ),
    (
        &[
            "@Terminal (cd /home/me/app) (488-493)\nhttp://localhost:8000/?id=7\n面向用户的对话框报错",
        ],
        "面向用户的对话框报错",
    ),
    (
        &[
            "**ultrathink** - Take a deep breath. We're not here to write code. We're here to make a dent in the universe.\n\nThe importer drops rows with empty keys.",
        ],
        "The importer drops rows with empty keys",
    ),
    (
        &["User provided an image (image/png).\nlet's think about a better format of log lines"],
        "Let's think about a better format of log lines",
    ),
    (
        &["GOAL:\nWrite a plan for the fourth phase.\n\nINSTRUCTIONS:\n- Parse it"],
        "Write a plan for the fourth phase",
    ),
];
