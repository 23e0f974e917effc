"""The words of the report in Spanish; see ``words_en`` for how they are written."""

from __future__ import annotations

WORDS: dict[str, str] = {
    # ---------------------------------------------------------------------------- the page
    "title": "Selección de características: {name}",
    "title_tuning": "Parámetros de una máquina: {name}",
    "a_table": "una tabla",
    "made": "hecho con tamiz {version}",
    "contents": "Contenido",
    "skip": "Saltar al informe",
    "footer": "Este archivo contiene todo lo que muestra y no pide nada a la red.",
    "theme": "Colores",
    "theme_auto": "Colores: los del sistema",
    "theme_light": "Colores: claros",
    "theme_dark": "Colores: oscuros",
    "save_picture": "Guardar esta figura como",
    "keys": "Gráfico. Las flechas del teclado leen sus valores.",
    "section_summary": "Resumen",
    "section_tradeoff": "¿Cuántas características?",
    "section_plane": "Lo que ve el juez",
    "section_redundancy": "Características sustituibles",
    "section_learning": "¿Ayudarían más filas?",
    "section_data": "Los datos",
    "section_ranking": "Orden de todas las características",
    "section_features": "Las características seleccionadas",
    "section_curves": "Error de cada método",
    "section_bias": "Error honesto y error aparente",
    "section_signal": "¿Hay señal?",
    "section_stability": "Estabilidad de la selección",
    "section_card": "Calidad de las predicciones",
    "section_tuning": "Parámetros de la máquina",
    "section_methods": "¿Difieren los métodos?",
    "section_repeat": "Cómo repetirlo",
    "section_glossary": "Glosario",
    # ------------------------------------------------------------------------ common words
    "no_name": "(sin nombre)",
    "quoted": "«{name}»",
    "and_more": "{names} y {n} más",
    "between": "{low} a {high}",
    "points": "{n} puntos",
    "points_short": "{n} ptos.",
    "count_feature_one": "{n} característica",
    "count_feature_many": "{n} características",
    "count_row_one": "{n} fila",
    "count_row_many": "{n} filas",
    "count_class_one": "{n} clase",
    "count_class_many": "{n} clases",
    "count_combination_one": "{n} combinación",
    "count_combination_many": "{n} combinaciones",
    "count_column_one": "{n} columna",
    "count_column_many": "{n} columnas",
    "rows": "Filas",
    "features": "Características",
    "feature": "Característica",
    "target": "Objetivo",
    "class": "Clase",
    "column": "Columna",
    "reason": "Motivo",
    "method": "Método",
    "judge": "Juez",
    "size": "Número",
    "honest": "Error honesto",
    "apparent": "Error aparente",
    "apparent_short": "aparente {error}",
    "interval": "Intervalo",
    "interval_of": "Intervalo del {level}",
    "selection_bias": "Sesgo de selección",
    "stability": "Estabilidad",
    "signal": "Señal",
    "rank": "Puesto",
    "score": "Puntuación",
    "pvalue": "Valor p",
    "seconds": "Tiempo de selección",
    "median": "Mediana",
    "middle_half": "Mitad central",
    "value": "Valor",
    "n_features": "Número de características",
    "metric_error": "Error",
    "metric_score": "Puntuación",
    "metric_accuracy": "Exactitud",
    "metric_balanced_accuracy": "Exactitud equilibrada",
    "metric_balanced error": "Error equilibrado",
    "metric_1 − roc_auc": "1 − área bajo la curva ROC",
    "metric_1 − f1": "1 − F1",
    "metric_mean squared error": "Error cuadrático medio",
    "metric_mean absolute error": "Error absoluto medio",
    "metric_root mean squared error": "Raíz del error cuadrático medio",
    "baseline_random": "orden al azar",
    "baseline_all": "todas las características",
    "role_numeric": "numéricas",
    "role_categorical": "categóricas",
    "role_id": "identificador",
    "role_text": "texto libre",
    "role_date": "fecha",
    "role_constant": "constantes",
    "role_empty": "vacías",
    "role_duplicate": "repetidas",
    "role_leak": "que delatan el objetivo",
    "role_ignore": "excluidas",
    "task_classification": "clasificación",
    "task_regression": "regresión",
    # ----------------------------------------------------------------------------- summary
    "question_classes": (
        "De {features}, ¿cuáles distinguen las {classes} de «{target}»? Estudiado con {rows}."
    ),
    "question_numbers": "De {features}, ¿cuáles predicen «{target}»? Estudiado con {rows}.",
    "question_none": "De {features}, ¿cuáles importan? Estudiado con {rows}, sin objetivo.",
    "question_tuning": (
        "¿Con qué parámetros predice mejor una máquina «{target}» a partir de {features}? "
        "Estudiado con {rows}."
    ),
    "ranked_all": "El orden y sus puntuaciones salen de la tabla entera ({rows}).",
    "ranked_cuts": (
        "El orden y sus puntuaciones salen de la tabla entera ({rows}), salvo los límites de los "
        "intervalos, que salen de una muestra: véanse las notas."
    ),
    "ranked_sample": (
        "De las {rows}, el método {method} mira una muestra, de la que salen el orden y sus "
        "puntuaciones: véanse las notas."
    ),
    "sample_lede": (
        "Las figuras de columnas se basan en {sample} de las filas, una muestra al azar en la que "
        "cada fila tuvo la misma probabilidad[[ (semilla {seed})]]."
    ),
    "sample_classes": "Así, cada clase tiene en la muestra su parte aproximada, no exacta.",
    "tile_error": "Error que cabe esperar con datos nuevos",
    "tile_interval": "intervalo del {level}: {between}",
    "tile_without": "Error sin características",
    "tile_without_below": "siempre la misma respuesta",
    "tile_features": "Características recomendadas",
    "tile_of": "de {n}",
    "tile_ranked": "Características ordenadas",
    "tile_tuned": "Error de validación cruzada",
    "tile_cells": "la combinación elegida entre {n}",
    "agreement_poor": "concordancia pobre",
    "agreement_fair": "concordancia aceptable",
    "agreement_good": "concordancia buena",
    "signal_yes": "más que azar",
    "signal_no": "no más que azar",
    "answer_smallest": "La menor",
    "answer_most_accurate": "La más exacta",
    "answer_both": "La menor, y también la más exacta",
    "answer_all": "Todas: no se omite ninguna.",
    "answer_line": (
        "{what}: {n} según {method}, juez {judge}; error honesto {error}[[ ({between})]]"
    ),
    "mean_in_splits": "Error suavizado",
    "copy_names": "Copiar los nombres",
    "advice_ranking": "El método {method} selecciona {n}, la mejor primero:",
    "more_names": "{n} más",
    "expect": (
        "Con datos nuevos del mismo tipo cabe esperar un error de alrededor de {error}[[ "
        "({metric})]][[, {one_in}]].[[ El intervalo del {level} va de {between}.]] Es el error de "
        "todo el procedimiento, en filas que no intervinieron en nada: método, juez, número de "
        "características y parámetros se eligieron sin ellas."
    ),
    "without_beaten": (
        "Sin ninguna característica sería {without}; todo el intervalo queda por debajo."
    ),
    "without_paired": (
        "Sin ninguna característica sería {without}. El intervalo llega hasta ahí, pero en las "
        "mismas particiones el procedimiento yerra menos ({p})."
    ),
    "without_known": "Sin ninguna característica sería {without}.",
    "sizes_same": (
        "Cada una de las {n} particiones, por su cuenta, eligió {size}[[, no {answer}: tome el "
        "número como aproximado]]."
    ),
    "sizes_vary": (
        "Por su cuenta, las {n} particiones eligieron de {low} a {high}[[, no {answer}]]: tome el "
        "número como aproximado."
    ),
    "no_signal": (
        "No se recomienda nada: ni el procedimiento más exacto predice mejor que sin ninguna "
        "característica. Sin características el error es {without}; el suyo es {error}."
    ),
    "no_signal_chance": (
        "No se recomienda nada: ni el procedimiento más exacto es mejor que sin ninguna "
        "característica más allá del azar. Sin características el error es {without}; el suyo es "
        "{error}, y la diferencia puede ser azar[[ ({p})]]."
    ),
    "cut_short": (
        "El estudio se interrumpió: están completas {done} de {all} particiones[[, con las que se "
        "probaron {rows}]]. Todos los números salen de ellas."
    ),
    "cut_short_nothing": (
        "El estudio se interrumpió antes de completar ninguna de sus {all} particiones: no se "
        "puede decir nada de los errores."
    ),
    "one_in": "aproximadamente un caso de cada {n}",
    "no_error_seen": (
        "No se observó ningún error, pero eso no garantiza que no los haya: con {rows} muestras, "
        "un error de hasta {bound} pasaría inadvertido con demasiada frecuencia para descartarlo "
        "con una confianza del {level}."
    ),
    "shuffled_signal": (
        "Hay señal: con las etiquetas barajadas, {n} de {all} intentos dieron un resultado igual "
        "de bueno ({p})."
    ),
    "shuffled_no_signal": (
        "No hay una señal clara: con las etiquetas barajadas, {n} de {all} intentos dieron un "
        "resultado igual de bueno ({p})."
    ),
    "no_comparison": (
        "Las características se ordenaron, pero no se midió ningún error: este informe no dice "
        "cuánto aciertan."
    ),
    "only_tuned": (
        "Se eligieron parámetros, no características. El error de la combinación elegida es el que "
        "mejor pareció entre muchos, y por eso algo optimista: para decir qué hará la máquina con "
        "datos nuevos, reserve muestras que no intervengan en la elección."
    ),
    "why": "Por qué estas características",
    "why_accurate": "Por qué la respuesta más exacta",
    "reason_only_one": (
        "Es la única combinación de método, juez y número de características que se probó; su "
        "error suavizado es {mean}."
    ),
    "reason_least_error": (
        "De las {n_triples} combinaciones de método, juez y número de características es la de "
        "menor error suavizado: {mean}."
    ),
    "reason_none_smaller": (
        "Otras no son peores en más de un error estándar[[, ni en más de {limit}]], pero ninguna "
        "de esas tiene menos de {features}."
    ),
    "reason_not_far_worse": (
        "Otras quedan a un error estándar o menos con solo {least_size}, pero son peores en más de "
        "{limit}."
    ),
    "reason_ties": "{n_tied} del mismo tamaño tienen el mismo error suavizado.",
    "reason_ties_one": "{n_tied} del mismo tamaño tiene el mismo error suavizado.",
    "reason_one_split": (
        "Solo se terminó una partición: no se conocen errores estándar, y es una primera conjetura."
    ),
    "reason_steadiest": (
        "Combinaciones de otros métodos con {size} características cuyo error difiere del suyo en "
        "medio punto a lo sumo: {n_alike}. De todas, sus selecciones son las que más coinciden."
    ),
    "reason_fewest_within_error": (
        "Tiene el menor número de características de todas las combinaciones que no son peores que "
        "la mejor en más de un error estándar[[, ni en más de {limit}]]. La mejor es {best_method} "
        "con {best_size}, juez {best_judge}: su error suavizado es {best_mean}; el de esta, "
        "{mean}. La diferencia es {difference}, y su error estándar, {standard_error}."
    ),
    "reason_fewest_within_error_all": (
        "Tiene el menor número de características de todas las combinaciones que no son peores que "
        "la mejor en más de un error estándar[[, ni en más de {limit}]]. La mejor toma todas las "
        "características, juez {best_judge}: su error suavizado es {best_mean}; el de esta, "
        "{mean}. La diferencia es {difference}, y su error estándar, {standard_error}."
    ),
    "reason_stable": (
        "Con {features}, {method} selecciona casi lo mismo en todas las particiones (índice "
        "{nogueira}; 1 es perfecto)."
    ),
    "reason_fairly_stable": (
        "Con {features}, {method} selecciona en parte lo mismo en las particiones (índice "
        "{nogueira}; 1 es perfecto)."
    ),
    "reason_fragile": (
        "Con {features}, la selección de {method} cambia mucho de una partición a otra (índice "
        "{nogueira}; 1 es perfecto): conviene no interpretar características sueltas."
    ),
    "reason_all_features": "Usa todas las características: {size}.",
    "reason_all_features_better": (
        "Con las {size} características el mismo juez tiene un error suavizado de {all_mean} en "
        "lugar de {mean}, mejor en más de un error estándar: estas solo convienen si usar menos "
        "compensa."
    ),
    "reason_better_than_all": (
        "Con las {size} características el mismo juez tiene un error suavizado de {all_mean} en "
        "lugar de {mean}, peor en más de un error estándar."
    ),
    "reason_near_all": (
        "Con las {size} características el mismo juez tiene un error suavizado de {all_mean}, a un "
        "error estándar o menos de {mean}."
    ),
    "reason_boundary_linear": (
        "Basta un modelo lineal: el mejor juez, {best}, mejora a uno lineal en {difference}, no "
        "más de un error estándar ({standard_error})."
    ),
    "reason_boundary_linear_best": (
        "Basta un modelo lineal: ningún otro juez tiene un error suavizado menor."
    ),
    "reason_boundary_curved": (
        "Los datos piden una frontera curva: el mejor juez, {best}, mejora a uno lineal en "
        "{difference}, más de un error estándar ({standard_error})."
    ),
    "reason_boundary_rules": (
        "Los datos piden reglas con umbrales: el mejor juez, {best}, mejora a uno lineal en "
        "{difference}, más de un error estándar ({standard_error})."
    ),
    "reason_selection_bias_smallest": (
        "Una estimación descuidada, con las características ordenadas con todos los datos y la "
        "mejor combinación de este tamaño o menor elegida después, habría prometido {apparent}: "
        "{bias} de más optimismo."
    ),
    "reason_selection_bias_more_smallest": (
        "Una estimación descuidada, con las características ordenadas con todos los datos y la "
        "mejor combinación de este tamaño o menor elegida después, habría prometido {apparent}, "
        "{bias} más que el error honesto: aquí no se ve sesgo de selección."
    ),
    "reason_selection_bias_none_smallest": (
        "Una estimación descuidada, con las características ordenadas con todos los datos y la "
        "mejor combinación de este tamaño o menor elegida después, habría prometido {apparent}, lo "
        "mismo que el error honesto."
    ),
    "reason_selection_bias_accurate": (
        "Una estimación descuidada, con las características ordenadas con todos los datos y la "
        "mejor combinación elegida después, habría prometido {apparent}: {bias} de más optimismo."
    ),
    "reason_selection_bias_more_accurate": (
        "Una estimación descuidada, con las características ordenadas con todos los datos y la "
        "mejor combinación elegida después, habría prometido {apparent}, {bias} más que el error "
        "honesto: aquí no se ve sesgo de selección."
    ),
    "reason_selection_bias_none_accurate": (
        "Una estimación descuidada, con las características ordenadas con todos los datos y la "
        "mejor combinación elegida después, habría prometido {apparent}, lo mismo que el error "
        "honesto."
    ),
    "measured": "Cómo se midió",
    "measured_splits": "Con {n} particiones; medida: {metric}.",
    "measured_skewed": (
        "Una clase es rara, así que el error es equilibrado: el promedio sobre las clases de la "
        "proporción equivocada."
    ),
    "measured_balanced": (
        "El error es equilibrado: el promedio sobre las clases de la proporción equivocada."
    ),
    "measured_weights": (
        "Los jueces ponderan las clases, de modo que las raras cuentan tanto como las demás."
    ),
    "measured_methods_rows": (
        "El método {name} mira como mucho {n} de cada parte de entrenamiento, tomadas al azar."
    ),
    "measured_judges_rows": (
        "El juez {name} aprende como mucho de {n} de cada parte de entrenamiento, tomadas al azar."
    ),
    "measured_inner_rows": (
        "Lo que se elige dentro de una parte de entrenamiento se elige como mucho con {n}, tomadas "
        "al azar."
    ),
    "left_out_method": "Omitido para ahorrar tiempo: el método {name}. Para incluirlo:",
    "left_out_judge": "Omitido para ahorrar tiempo: el juez {name}. Para incluirlo:",
    "left_out_sizes": "Omitidos para ahorrar tiempo: los tamaños {name}. Para incluirlos:",
    "left_out_apparent_error": "Omitido para ahorrar tiempo: el error aparente. Para incluirlo:",
    "warning_leak": (
        "Excluidas porque cada una por sí sola delata el objetivo: {names}. Si alguna se conoce "
        "antes que el objetivo, consérvela: --keep {first}."
    ),
    "warning_leak_used": (
        "Delata por sí sola el objetivo: {names}. Compruebe que se conoce antes que él; si no, "
        "exclúyala: --drop {first}."
    ),
    "warning_skew": (
        "La clase «{name}» es rara: {n} de {all} ({share}). La sensibilidad y la exactitud "
        "equilibrada dicen aquí más que la exactitud simple."
    ),
    "warning_id": "No se usan porque parecen identificadores: {names}.",
    "warning_id_used": (
        "Quizá identificadores, pero usados como características: {names}. Si lo son, exclúyalos: "
        "--drop {first}."
    ),
    "warning_text": "No se usan porque contienen texto libre: {names}.",
    "warning_date": "No se usan porque contienen fechas u horas: {names}.",
    "warning_empty": "Sin ningún valor: {names}.",
    "warning_constant": "Constantes, y por tanto sin información: {names}.",
    "warning_duplicate": "Repiten otra columna ({n}): {names}.",
    "warning_transposed": (
        "La tabla parece tener las muestras en columnas y las características en filas: {names}. "
        "Si es así, use --transpose --labels ARCHIVO."
    ),
    "tradeoff_intro": (
        "Cada punto es una combinación de método, juez y número de características. Su error es la "
        "media en las particiones, suavizada: cuentan también los números vecinos de "
        "características y los otros métodos, para que no gane un resultado afortunado suelto. Los "
        "puntos intensos no son peores que el mejor en más de un error estándar[[, ni en más de "
        "{limit}]]; el menor de ellos es la primera respuesta."
    ),
    "tradeoff_title": "{metric} (suavizado) frente al número de características",
    "tradeoff_finding": (
        "De {n}, ninguna otra supera a las de la línea en error y en tamaño a la vez: va de "
        "{first_error} con {first} a {last_error} con {last}."
    ),
    "tradeoff_one": "De {n}, una con {first} es a la vez la menor y la más exacta: {first_error}.",
    "tradeoff_cut": "No se dibujan, por quedar por encima de la figura: {n}.",
    "front": "mejor compromiso",
    "without_mark": "sin características: {error}",
    "plane_intro": (
        "Dos de las {n} recomendadas, y lo que dice el juez {judge} ajustado solo a estas dos: el "
        "color del fondo es la clase que nombra. De las primeras {tried} se tomaron las dos con "
        "las que menos yerra."
    ),
    "plane_intro_both": (
        "Las dos características recomendadas, y lo que dice el juez {judge} ajustado a ellas: el "
        "color del fondo es la clase que nombra."
    ),
    "plane_title": "Dos características y la frontera del juez {judge}",
    "plane_finding": (
        "Ajustado solo a «{first}» y «{second}», el juez se equivoca en el {wrong} de las {rows} "
        "con las que se ajustó."
    ),
    "plane_drawn": "Se dibujan {n} del total.",
    "plane_curved": (
        "Una característica con colas pesadas se transforma antes: por eso la frontera de un juez "
        "lineal se ve aquí doblada."
    ),
    "plane_spread": "Los puntos se separan un poco a lo largo de {names}, que tiene pocos valores.",
    "threshold_intro": (
        "La característica recomendada en cada clase, y lo que dice el juez {judge} ajustado a "
        "ella: la barra de abajo es la clase que nombra; las líneas de trazos, dónde cambia."
    ),
    "threshold_title": "«{name}» y lo que el juez hace con ella",
    "threshold_finding": (
        "El juez cambia su respuesta en {values}. Se equivoca en el {wrong} de las {rows} con las "
        "que se ajustó."
    ),
    "threshold_many": (
        "El juez cambia su respuesta {n} veces, primero en {values}. Se equivoca en el {wrong} de "
        "las {rows} con las que se ajustó."
    ),
    "threshold_none": (
        "En este rango el juez da siempre la misma respuesta. Se equivoca en el {wrong} de las "
        "{rows} con las que se ajustó."
    ),
    "levels_intro": (
        "Los valores de la característica recomendada en cada clase. Tras la flecha está la clase "
        "que el juez {judge}, ajustado a esta característica, nombra para cada valor."
    ),
    "levels_fitted": (
        "Ajustado solo a «{name}», el juez se equivoca en el {wrong} de las {rows} con las que se "
        "ajustó."
    ),
    "line_intro": (
        "El objetivo frente a la primera característica recomendada, y lo que predice el juez "
        "{judge} ajustado solo a ella."
    ),
    "line_title": "«{target}» frente a «{name}»",
    "line_finding": "La línea es lo que predice el juez {judge} solo con «{name}».",
    "redundancy_intro": (
        "Características que dicen casi lo mismo: su correlación de rangos (Spearman) es al menos "
        "{near}, o como mucho −{near}. A menudo una puede sustituir a la otra, y cuál de ellas se "
        "selecciona puede ser azar. Medido con {rows}."
    ),
    "redundancy_coded": "Quedan fuera aquí, porque sus categorías no tienen orden: {n}.",
    "redundancy_title": (
        "Correlación de rangos de las características recomendadas y las casi iguales"
    ),
    "redundancy_finding": (
        "De {all}, {n} tienen otra casi igual. El par más próximo es «{first}» y «{second}» ({r})."
    ),
    "redundancy_none": (
        "Ninguna característica tiene una correlación de rangos de {near} o más con una "
        "recomendada."
    ),
    "redundancy_table": "Las casi iguales de cada característica",
    "redundancy_caption": (
        "Casi iguales, con una correlación de rangos de al menos {near}, positiva o negativa"
    ),
    "chosen_feature": "Recomendada",
    "near_duplicates": "Casi iguales",
    "chosen_mark": "● recomendada",
    "learning_intro": (
        "La respuesta menor ({size}) aprendida con partes de las filas de entrenamiento. Las "
        "características se ordenan cada vez de nuevo. Los puntos tenues son pliegues sueltos."
    ),
    "learning_title": "{metric} según el número de filas de entrenamiento",
    "learning_axis": "Filas de entrenamiento",
    "learning_test": "en filas de prueba",
    "learning_training": "en filas de entrenamiento",
    "learning_helps": (
        "Más filas probablemente ayudarían: de {few} a {many} el error aún baja de {before} a "
        "{after}, más de un error estándar ({standard_error})."
    ),
    "learning_hardly": (
        "Más filas apenas ayudarían: de {few} a {many} el error pasa de {before} a {after}, un "
        "cambio de no más de un error estándar ({standard_error})."
    ),
    "learning_rises": (
        "No hay indicio de que más filas ayudaran: de {few} a {many} el error sube de {before} a "
        "{after}."
    ),
    "learning_unknown": "De {few} a {many} el error pasa de {before} a {after}.",
    # -------------------------------------------------------------------------------- data
    "data_name": "Nombre",
    "data_source": "Origen",
    "sample": "Muestra",
    "sample_of": (
        "{n} ({share}), al azar, para las figuras de columnas; los números de esta sección son de "
        "todas las filas, salvo que digan otra cosa"
    ),
    "indicators": "Indicadoras",
    "indicators_of": "{n} de las características representan niveles de {columns}, como «{name}»",
    "missing_cells": "Celdas ausentes",
    "warnings": "Conviene saber",
    "no_warnings": "No se encontró nada llamativo en las columnas.",
    "in_sample": "En la muestra de {n}, lo que no tiene por qué valer para todas las filas:",
    "looked_sample": (
        "Las columnas que repiten otra, dan el objetivo o quizá son identificadores se buscaron "
        "solo en la muestra[[, entre {among}]]."
    ),
    "looked_among": (
        "Las columnas que repiten otra, dan el objetivo o quizá son identificadores se buscaron "
        "solo entre {among}, las de las características que se muestran abajo."
    ),
    "warn_leak": (
        "Da el objetivo sin error: {n}: {names}. Compruebe que se conoce antes que el objetivo."
    ),
    "warn_constant": "Sin información por ser constante: {n}: {names}.",
    "warn_duplicate": "Repite otra columna: {n}: {names}.",
    "warn_empty": "Sin ningún valor, apartada: {n}: {names}.",
    "warn_empty_kept": "Sin ningún valor: {n}: {names}.",
    "warn_id": "Parece un identificador, apartada: {n}: {names}.",
    "warn_text": "Texto libre, apartada: {n}: {names}.",
    "warn_date": "Fechas u horas, apartada: {n}: {names}.",
    "warn_doubtful": (
        "Quizá identificadores ({n}): {names}. Lo dice el nombre, y casi ningún valor se repite; "
        "si lo son, déjelos fuera."
    ),
    "warn_small_class": "La clase «{name}» solo tiene {n}: lo que se diga de ella es muy incierto.",
    "warn_unbalanced": (
        "Las clases están lejos del equilibrio: «{name}» tiene el {share} de las filas. Fíjese en "
        "la sensibilidad y la exactitud equilibrada más que en el error."
    ),
    "warn_wide": (
        "Hay muchas más características ({features}) que filas ({rows}): algunas parecerán buenas "
        "por puro azar, y el sesgo de selección es grande."
    ),
    "classes_title": "Filas de cada clase",
    "classes_finding": "La clase mayor es «{name}», con el {share} de las filas.",
    "gaps_title": "Columnas con valores ausentes",
    "gaps_finding": "{n} con valores ausentes, sobre todo «{name}», a la que le falta el {share}.",
    "aside_caption": "Apartadas: {n}",
    "aside_id": "un identificador: un valor propio en casi cada fila",
    "aside_text": "texto libre",
    "aside_date": "fechas u horas",
    "aside_empty": "ningún valor en ninguna fila",
    "aside_ignore": "excluida a petición",
    "notes": "Notas del programa, en inglés ({n})",
    # ----------------------------------------------------------------------------- ranking
    "ranking_intro": (
        "Todas las características en el orden de {method}, calculado con todos los datos, junto "
        "al puesto que les dan los otros métodos."
    ),
    "ranking_intro_alone": (
        "Todas las características en el orden de {method}, calculado con todos los datos."
    ),
    "ranking_intro_sample": (
        "Todas las características en el orden de {method}, que miró una muestra de las filas."
    ),
    "ranking_how": "Pulse un encabezado para ordenar.",
    "ranking_caption": "Orden según {method}",
    "recommended_short": "Elegida",
    "rank_by": "Puesto {method}",
    "frequency": "En particiones",
    "kind": "Tipo",
    "missing": "Ausentes",
    "search": "Buscar características",
    "only_selected": "solo las elegidas",
    "rows_per_page": "Filas",
    "save_csv": "Guardar como CSV",
    "previous": "Anterior",
    "next": "Siguiente",
    "js_showing": "%1–%2 de %3",
    "js_none": "Ninguna característica coincide.",
    "js_yes": "sí",
    "js_no": "–",
    # ---------------------------------------------------------------------------- features
    "features_intro": (
        "Dónde están los valores de cada característica seleccionada, por clase: una curva con la "
        "mediana como línea vertical, cada una con su propia altura, o barras con la proporción de "
        "la clase que tiene cada valor. Cuanto más separadas las clases, más dice la "
        "característica por sí sola; algunas solo dicen algo junto con otras. Los ejes son "
        "logarítmicos donde los valores abarcan décadas."
    ),
    "features_intro_numbers": (
        "El objetivo frente a cada característica seleccionada, un punto por fila."
    ),
    "sample_shown": "Las figuras se basan en una muestra al azar de {n} de las {rows}.",
    "features_intro_points": (
        "El objetivo frente a cada característica seleccionada, con {n} puntos: filas tomadas al "
        "azar[[ de las {sample} de la muestra]]."
    ),
    "features_first": "Se muestran las primeras {n} de {all}.",
    "classes_absent": "Ninguna fila de la muestra es de estas clases: {names}.",
    "largest_classes": "Se dibujan las {n} clases mayores.",
    "more_features": "{n} más",
    "n_missing": "{n} ausentes",
    "n_missing_all": "{n} ausentes en todas las filas",
    "rows_sample": "Filas de la muestra",
    "finding_sample": "En la muestra: {finding}",
    "no_values": "sin valores",
    "all_rows": "todas las filas",
    "other_levels": "otros {n} valores",
    "medians_finding": "Medianas: {medians}.",
    "levels_finding": "Valor más frecuente: {levels}.",
    "correlation_finding": "Correlación con el objetivo {r}.",
    # ------------------------------------------------------------------------------ errors
    "curves_intro": (
        "Línea continua: error honesto, con las características ordenadas dentro de la parte de "
        "entrenamiento de cada partición, y su intervalo como banda. Línea de trazos: error "
        "aparente, con las características ordenadas con todos los datos, incluidas las muestras "
        "de prueba."
    ),
    "curves_title": "{metric} según el número de características, juez {judge}",
    "curves_finding": (
        "{method} pasa de {first} con {first_size} a su menor error, {error}, con {size} "
        "características."
    ),
    "curves_gap": "El error aparente llega a ser {gap} demasiado optimista.",
    "curves_cut": "Los errores por encima de {error} quedan cortados.",
    "level_of": "{name}: {error}",
    "curves_caption": "Error honesto según el número de características, juez {judge}",
    "as_table_judge": "Los números en una tabla ({judge})",
    "as_table": "Los números en una tabla",
    "whole_procedure": "todo el procedimiento",
    "judge_is": "Juez {judge}",
    "recommended_size": "recomendado",
    "bias_intro": (
        "La marca llena es el error honesto con su intervalo; la hueca, lo que el mismo método "
        "parece lograr si sus características se seleccionan antes con todos los datos. La "
        "distancia entre ambas es el sesgo de selección."
    ),
    "bias_title": "Error aparente y error honesto de cada método",
    "bias_finding": (
        "La distancia mayor es la de {method}: parece errar {apparent} y honestamente yerra "
        "{error}, un sesgo de selección de {bias}."
    ),
    "bias_none": (
        "Ningún método parece mejor cuando sus características se seleccionan antes con todos los "
        "datos."
    ),
    "majority_mark": "sin características",
    "own_size": "{method} (número propio)",
    "methods_caption": "Todos los métodos; el número es el de características",
    "sizes_in_splits": "Número en particiones",
    # ------------------------------------------------------------------------------ signal
    "shuffles_intro": (
        "Si las características no tuvieran nada que ver con el objetivo, las etiquetas reales no "
        "darían mejor resultado que unas barajadas. Todo, incluida la selección, se repitió con "
        "etiquetas barajadas."
    ),
    "shuffles_title": "Resultado con las etiquetas reales y con etiquetas barajadas",
    "shuffles_finding_yes": (
        "Las etiquetas reales alcanzan {score}; las barajadas, {middle} de mediana; {n} de {all} "
        "barajas dieron un resultado igual de bueno ({p})."
    ),
    "shuffles_finding_no": (
        "Las etiquetas reales alcanzan {score}; las barajadas, {middle} de mediana; {n} de {all} "
        "barajas dieron un resultado igual de bueno ({p}), lo que no es prueba de señal."
    ),
    "shuffles_axis": "Barajas",
    "shuffled": "barajas",
    "observed_score": "etiquetas reales: {score}",
    # --------------------------------------------------------------------------- stability
    "stability_intro": (
        "Cada partición selecciona a partir de muestras algo distintas[[; aquí cada método "
        "selecciona {size}]]. El índice de Nogueira vale 1 si todas las selecciones son iguales y "
        "cerca de 0 si no se parecen más que unas hechas al azar."
    ),
    "stability_title": "Estabilidad de cada método",
    "stability_finding": (
        "{method} tiene un índice de {index}: {words}. El método más estable es {best}, con "
        "{best_index}."
    ),
    "stability_undefined": "El índice no está definido para estas selecciones.",
    "choices_intro": (
        "Dentro de cada partición, método, juez y número de características se eligieron de nuevo "
        "solo con la parte de entrenamiento. Lleno: la partición eligió la característica."
    ),
    "choices_title": "Lo que eligió cada partición",
    "choices_finding": "Elegidas en las {n} particiones: {always}; en al menos una: {ever}.",
    "choices_first": "Se muestran las primeras {n}.",
    "sizes_above": "Número de características en cada partición",
    "split_number": "Partición {n}",
    "found_by": "Hallado por",
    "by_judge": "{method}, juez {judge}",
    "more_stability": "Lo mismo para cada método con ese número de características",
    "nogueira": "Índice de Nogueira",
    "kuncheva": "Índice de Kuncheva",
    "jaccard": "Índice de Jaccard",
    "selections": "Selecciones",
    "mark_poor": "aceptable desde",
    "mark_good": "buena desde",
    "map_title": "Lo que {method} selecciona más a menudo, por particiones: {n}",
    "map_finding": "En las {n} particiones: {always}; en al menos una: {ever}.",
    "selected_in": "seleccionada en {n} de {all} particiones ({share})",
    "splits_axis": "{n} particiones, una columna cada una",
    "frequency_caption": "Con qué frecuencia las selecciona cada método",
    "card_intro": (
        "Contado sobre {n} predicciones, cada una de una máquina que no había visto la fila, "
        "tampoco al seleccionar."
    ),
    "card_intro_once": (
        "{rows} fueron predichas una vez, cada una por una máquina que no la había visto, tampoco "
        "al seleccionar.[[ Sin probar: {left}.]]"
    ),
    "card_intro_repeats": (
        "Contado sobre {n} predicciones de {rows}, una en cada repetición, cada una de una máquina "
        "que no había visto la fila, tampoco al seleccionar.[[ Sin probar: {left}.]]"
    ),
    "card_honest": (
        "Error de todo el procedimiento: {error}[[ ({metric})]][[; intervalo del {level}: "
        "{between}]]."
    ),
    "card_pooled": (
        "Es un promedio sobre las particiones; las medidas de abajo son de todas las predicciones "
        "juntas y pueden diferir un poco."
    ),
    # -------------------------------------------------------------------------------- card
    "positive_class": "La clase positiva es «{name}».",
    "confusion_caption": (
        "Matriz de confusión: las filas son las clases reales; los porcentajes, de la fila"
    ),
    "true_predicted": "Real \\ predicha",
    "is_class": "{name}",
    "predicted_class": "{name}",
    "card_caption": "Calificaciones",
    "measure": "Medida",
    "meaning": "Significado",
    "per_class": "Cada clase frente a las demás",
    "per_class_caption": "Medidas de cada clase",
    "score_sensitivity": "Sensibilidad",
    "score_specificity": "Especificidad",
    "score_precision": "Precisión",
    "score_accuracy": "Exactitud",
    "score_balanced_accuracy": "Exactitud equilibrada",
    "score_f1": "F1",
    "score_macro_f1": "F1 media",
    "score_mcc": "Correlación de Matthews",
    "score_roc_area": "Área bajo la curva ROC",
    "score_macro_precision": "Precisión media",
    "means_sensitivity": "parte de los casos positivos que se encuentra",
    "means_specificity": "parte de los casos negativos que se deja en paz",
    "means_precision": "parte de los llamados positivos que lo es",
    "means_accuracy": "parte de respuestas acertadas",
    "means_balanced_accuracy": "parte encontrada, promedio de las clases",
    "means_f1": "media armónica de precisión y sensibilidad",
    "means_macro_f1": "promedio de F1 en las clases",
    "means_mcc": "−1 todo mal, 0 azar, 1 todo bien",
    "means_roc_area": "probabilidad de que un caso positivo puntúe más que uno negativo",
    "means_macro_precision": "promedio de la precisión en las clases",
    "roc_title": "Curva ROC",
    "true_positives": "Positivos encontrados (sensibilidad)",
    "false_positives": "Falsas alarmas entre los negativos",
    "at_false_positives": "con {share} de falsas alarmas",
    "at_true_positives": "con {share} encontrados",
    "precise": "Aciertos al llamar positivo (precisión)",
    "roc_finding": "El área bajo la curva es {area}; 0,5 sería azar y 1 perfecto.",
    "roc_finding_several": (
        "Cada clase frente a las demás, con su área entre paréntesis; la menor es {area}, de "
        "«{name}». 0,5 sería azar y 1 perfecto."
    ),
    "recall_title": "Precisión y sensibilidad",
    "recall_finding": (
        "La precisión media es {area}; el azar alcanzaría {chance} (línea de puntos), 1 es "
        "perfecto."
    ),
    "recall_finding_several": (
        "Cada clase frente a las demás, con su precisión media entre paréntesis; la menor es "
        "{area}, de «{name}», donde el azar alcanzaría {chance} (línea de puntos)."
    ),
    "curves_within": (
        "Las particiones eligieron jueces distintos ({judges}), cuyos valores de decisión no "
        "tienen una escala común. Se comparan solo dentro de cada partición, como rangos."
    ),
    # ------------------------------------------------------------------------------ tuning
    "tuning_intro": "Elegido: {params}, con un error de validación cruzada de {error}.",
    "tuning_title": "{metric} según los parámetros: cuanto más intenso el color, menor",
    "tuning_finding": (
        "Los errores van de {low} a {high}; {n} de {all} celdas están a menos de un error estándar "
        "del menor. El anillo marca la celda elegida."
    ),
    "tuning_caption": "Las mejores combinaciones",
    "chosen_cell": "elegida",
    "deviation": "Desviación estándar",
    # ----------------------------------------------------------------------------- methods
    "ranks_intro": (
        "Prueba de la hipótesis de que todos los métodos son iguales: {test}, con {n} ensayos, {p}."
    ),
    "ranks_title": (
        "Puesto medio de los métodos: 1 es el mejor; las barras unen los que no difieren"
    ),
    "ranks_none": "Ninguno de los {n} pares de métodos difiere más allá del azar.",
    "ranks_some": (
        "{n} de {all} pares de métodos difieren más allá del azar, como {first} y {second}."
    ),
    "test_corrected t": "t corregida para remuestreo (Nadeau y Bengio)",
    "test_Friedman": "prueba de Friedman",
    "test_Wilcoxon": "prueba de rangos con signo de Wilcoxon",
    "critical_difference": "diferencia crítica {n}",
    "mean_rank": "Puesto medio",
    "mean_error": "Error medio",
    "pairs_folded": "Todos los pares ({n})",
    "pairs_caption": "Pares de métodos",
    "pair": "Par",
    "difference": "Diferencia",
    "adjusted": "p ajustado",
    "differ": "Difieren",
    # ------------------------------------------------------------------------------ repeat
    "repeat_intro": "Con los mismos datos, versiones y semilla se obtienen los mismos números.",
    "repeat_intro_plan": (
        "Con los mismos datos, versiones, semilla y plan se obtienen los mismos números. Lo que "
        "cabe en el tiempo se planifica de nuevo en cada máquina: el plan está entre los "
        "parámetros."
    ),
    "copy": "Copiar",
    "copied": "Copiado",
    "seed": "Semilla",
    "created": "Fecha",
    "seconds_all": "Tiempo empleado",
    "parameters": "Parámetros",
    "method_parameters": "Parámetros de los métodos",
    # ---------------------------------------------------------------------------- glossary
    "term_feature": "Característica",
    "gloss_feature": "Una columna de la tabla que puede ayudar a predecir el objetivo.",
    "term_selection": "Selección",
    "gloss_selection": "Un subconjunto de características que se conserva para predecir.",
    "term_ranking": "Orden",
    "gloss_ranking": "Todas las características de mejor a peor, tal como las ve un método.",
    "term_judge": "Juez",
    "gloss_judge": (
        "La máquina que se entrena con las características seleccionadas y cuyos errores cuentan."
    ),
    "term_combination": "Combinación",
    "gloss_combination": "Un método, un juez y un número de características: todas compiten.",
    "term_smoothed": "Error suavizado",
    "gloss_smoothed": (
        "El error medio de una combinación en las particiones, en el que cuentan también los "
        "números vecinos de características y los otros métodos, para que no gane un resultado "
        "afortunado suelto; decide entre combinaciones."
    ),
    "term_split": "Partición",
    "gloss_split": (
        "Una división de las filas en una parte de entrenamiento, de la que se aprende todo, y una "
        "de prueba, en la que se cuentan los errores."
    ),
    "term_honest": "Error honesto",
    "gloss_honest": (
        "El error en muestras que no intervinieron en nada: ni en el entrenamiento, ni en la "
        "elección de método, juez, características, su número o parámetros."
    ),
    "term_apparent": "Error aparente",
    "gloss_apparent": (
        "El error que se obtiene si las características se seleccionan antes con todos los datos; "
        "parece mejor de lo que es."
    ),
    "term_bias": "Sesgo de selección",
    "gloss_bias": "Error honesto menos error aparente: cuánto halaga la estimación ingenua.",
    "term_interval": "Intervalo",
    "gloss_interval": (
        "Un rango que contiene el valor verdadero en la mayoría de las repeticiones, en 95 de 100 "
        "si es del 95 %; cuanto más ancho, menos se sabe."
    ),
    "term_stability": "Estabilidad",
    "gloss_stability": "Cuánto concuerdan las selecciones hechas con muestras distintas.",
    "term_redundancy": "Casi iguales",
    "gloss_redundancy": (
        "Características que ordenan las filas casi igual, de modo que una puede sustituir a la "
        "otra."
    ),
    "term_permutation": "Prueba de permutación",
    "gloss_permutation": (
        "Se repite todo el procedimiento con las etiquetas barajadas para ver qué alcanzaría el "
        "puro azar."
    ),
    "term_pvalue": "Valor p",
    "gloss_pvalue": (
        "Con qué frecuencia el puro azar daría un resultado al menos tan extremo; los valores "
        "pequeños hablan en contra del azar."
    ),
    "term_baseline": "Referencias",
    "gloss_baseline": (
        "Características en orden al azar, todas las características y ninguna: lo que una "
        "selección debe superar."
    ),
    "term_sensitivity": "Sensibilidad",
    "gloss_sensitivity": "La parte de los casos positivos que se reconoce.",
    "term_specificity": "Especificidad",
    "gloss_specificity": "La parte de los casos negativos que se reconoce como tal.",
    "term_roc": "Curva ROC",
    "gloss_roc": (
        "La parte de casos positivos encontrados frente a la parte de falsas alarmas, al mover el "
        "umbral."
    ),
    "term_recall": "Curva de precisión y sensibilidad",
    "gloss_recall": (
        "La proporción de aciertos entre los llamados positivos frente a la de casos positivos "
        "encontrados, al mover el umbral."
    ),
    "term_balanced": "Error equilibrado",
    "gloss_balanced": (
        "El promedio sobre las clases de la proporción equivocada: una clase rara cuenta tanto "
        "como una grande."
    ),
    "term_rank": "Puesto medio",
    "gloss_rank": (
        "El lugar de un método entre los demás, promediado sobre los ensayos; 1 es el mejor."
    ),
    "term_leak": "Columna que delata el objetivo",
    "gloss_leak": (
        "Una columna que da el objetivo sin error, a menudo porque se anotó después que él."
    ),
}
